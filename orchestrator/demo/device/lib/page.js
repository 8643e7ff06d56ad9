'use strict';

/** One page of the device's browser: an app, a web view, or the system's own screen. */

const fs = require('node:fs');
const path = require('node:path');

const read = (name) => fs.readFileSync(path.join(__dirname, 'inpage', name), 'utf8');
const ISOLATED = ['walk.js', 'elements.js', 'touch.js', 'statusbar.js'].map(read).join('\n');
const WORLD = 'sim';
/** Milliseconds from one frame that is kept to the next. */
const FRAME_EVERY = 150;
const TYPES = {
  '.css': 'text/css', '.gif': 'image/gif', '.html': 'text/html; charset=utf-8', '.jpg': 'image/jpeg',
  '.js': 'text/javascript; charset=utf-8', '.json': 'application/json', '.png': 'image/png', '.svg': 'image/svg+xml',
  '.webp': 'image/webp', '.woff2': 'font/woff2',
};

/** A dialog opened while the page was asked: it answers nothing until the dialog is closed. */
class DialogOpened extends Error {}

/** The element is not there any more: its document was left, or it was removed. */
class ElementGone extends Error {}

class Page {
  /**
   * @param {object} options - `rect` {x, y, width, height} on the screen in points, `scale` device pixels a point,
   *   `serve` {origin, folder} of the files it may load, `script` for its own world, `statusBar` drawn above it, `watched` keeps its last frame,
   *   `log` keeps what it writes, `asks(question, page)`, `dialog(page, dialog)` and `dialogClosed(page)` are told what happens.
   */
  constructor(chromium, options) {
    this.chromium = chromium;
    Object.assign(this, options);
    this.interrupts = new Set();
    this.dialogOpen = false;
  }

  async open(url) {
    // A window of its own: a tab behind another one would stand still.
    const {targetId} = await this.chromium.send('Target.createTarget', {url: 'about:blank', newWindow: true});
    this.targetId = targetId;
    const {sessionId} = await this.chromium.send('Target.attachToTarget', {targetId, flatten: true});
    this.session = sessionId;
    this.on('Page.javascriptDialogOpening', (dialog) => this._dialogOpened(dialog));
    this.on('Page.javascriptDialogClosed', () => this._dialogClosed());
    this.on('Runtime.bindingCalled', ({payload}) => this.asks?.(JSON.parse(payload), this));
    this.on('Runtime.consoleAPICalled', (said) => this.log?.said(this, said));
    this.on('Runtime.exceptionThrown', (thrown) => this.log?.threw(this, thrown));
    this.on('Fetch.requestPaused', (event) => this._serve(event).catch(() => {}));
    const isolated = `${ISOLATED}\n${this.statusBar ? `sim.statusBar(${JSON.stringify(this.statusBar)});` : ''}`;
    await Promise.all([
      this.raw('Page.enable'),
      this.raw('Runtime.addBinding', {name: '__simAsk'}),
      this.raw('Emulation.setFocusEmulationEnabled', {enabled: true}),
      this.raw('Emulation.setTouchEmulationEnabled', {enabled: true, maxTouchPoints: 5}),
      this.raw('Page.addScriptToEvaluateOnNewDocument', {source: isolated, worldName: WORLD, runImmediately: true}),
      this.raw('Page.addScriptToEvaluateOnNewDocument', {source: this.script ?? '', runImmediately: true}),
      this.serve && this.raw('Fetch.enable', {patterns: [{urlPattern: `${this.serve.origin}/*`}]}),
      this.agent && this.raw('Emulation.setUserAgentOverride', {userAgent: this.agent}),
    ]);
    // Bindings are told of when the Runtime domain reports.
    await this.raw('Runtime.enable');
    await this.resize(this.rect);
    if (this.location) await this.locate(this.location);
    if (this.watched) await this._watch();
    if (url) await this.navigate(url);
  }

  // A page that a dialog holds up cannot be photographed any more: its last frame is kept for that case.
  async _watch() {
    this.on('Page.screencastFrame', ({data, sessionId}) => {
      this.lastFrame = data;
      const acknowledge = () => this.raw('Page.screencastFrameAck', {sessionId}).catch(() => {});
      setTimeout(acknowledge, FRAME_EVERY).unref();
    });
    await this.raw('Page.startScreencast', {format: 'jpeg', quality: 70, maxWidth: 1000, maxHeight: 1000});
  }

  on(method, listener) {
    this.chromium.on(`${this.session}/${method}`, listener);
  }

  async navigate(url) {
    const loaded = new Promise((resolve) => this.chromium.once(`${this.session}/Page.loadEventFired`, resolve));
    const {errorText} = await this.send('Page.navigate', {url});
    if (errorText) throw new Error(`${url}: ${errorText}`);
    await this.interruptible(Promise.race([loaded, new Promise((resolve) => setTimeout(resolve, 10_000))]));
  }

  async resize(rect) {
    this.rect = rect;
    await this.raw('Emulation.setDeviceMetricsOverride', {
      width: Math.round(rect.width), height: Math.round(rect.height), deviceScaleFactor: this.scale, mobile: true,
    });
    const insets = this.insets ?? {top: 0, bottom: 0};
    await this.raw('Emulation.setSafeAreaInsetsOverride', {insets}).catch(() => {});
  }

  async locate(location) {
    await this.raw('Emulation.setGeolocationOverride', location ? {...location, accuracy: 10} : {});
  }

  /** A command that is answered even while a dialog is open. */
  raw(method, params) {
    return this.chromium.send(method, params, this.session);
  }

  /** A command that a dialog interrupts. */
  send(method, params) {
    return this.interruptible(this.raw(method, params));
  }

  async interruptible(promise) {
    if (this.dialogOpen) {
      promise.catch?.(() => {});
      throw new DialogOpened('A dialog is open');
    }
    let interrupt;
    const opened = new Promise((_, reject) => {
      interrupt = () => reject(new DialogOpened('A dialog opened'));
      this.interrupts.add(interrupt);
    });
    promise.catch?.(() => {});
    opened.catch(() => {});
    try {
      return await Promise.race([promise, opened]);
    } finally {
      this.interrupts.delete(interrupt);
    }
  }

  /** Call a function of the isolated world, which the app's own scripts cannot see. */
  async call(name, ...args) {
    const expression = `sim.${name}(${args.map((arg) => JSON.stringify(arg) ?? 'undefined').join(', ')})`;
    for (let left = 5; ; left -= 1) {
      try {
        this.world ??= await this._world();
        return await this._evaluate(expression, this.world);
      } catch (error) {
        // The document was replaced under us: its successor has a world of its own.
        if (left === 0 || !/context|sim is not defined|No frame/i.test(error.message)) throw error;
        this.world = undefined;
        await new Promise((resolve) => setTimeout(resolve, 30));
      }
    }
  }

  /** Evaluate in the page's own world. */
  evaluate(expression) {
    return this._evaluate(expression, undefined);
  }

  async screenshot(clip = undefined) {
    const area = clip ?? {x: 0, y: 0, width: this.rect.width, height: this.rect.height};
    const {data} = await this.send('Page.captureScreenshot', {format: 'png', clip: {...area, scale: 1}});
    return data;
  }

  answerDialog(accept, promptText) {
    return this.raw('Page.handleJavaScriptDialog', {accept, promptText});
  }

  async close() {
    await this.chromium.send('Target.closeTarget', {targetId: this.targetId}).catch(() => {});
  }

  async _world() {
    const {frameTree} = await this.send('Page.getFrameTree');
    const made = await this.send('Page.createIsolatedWorld', {frameId: frameTree.frame.id, worldName: WORLD});
    return made.executionContextId;
  }

  async _evaluate(expression, contextId) {
    const {result, exceptionDetails} = await this.send('Runtime.evaluate', {
      expression, contextId, returnByValue: true, awaitPromise: true, userGesture: true,
    });
    if (!exceptionDetails) return result.value;
    const text = exceptionDetails.exception?.description ?? exceptionDetails.text;
    if (text.includes('element is gone')) throw new ElementGone(text);
    throw new Error(text);
  }

  _dialogOpened(dialog) {
    this.dialogOpen = true;
    for (const interrupt of this.interrupts) interrupt();
    this.dialog?.(this, dialog);
  }

  _dialogClosed() {
    this.dialogOpen = false;
    this.dialogClosed?.(this);
  }

  async _serve({requestId, request}) {
    const where = decodeURIComponent(new URL(request.url).pathname).replace(/^\/+/, '');
    const file = path.resolve(this.serve.folder, where);
    const inside = file.startsWith(path.resolve(this.serve.folder) + path.sep);
    const body = inside ? await fs.promises.readFile(file).catch(() => undefined) : undefined;
    const type = TYPES[path.extname(file).toLowerCase()] ?? 'application/octet-stream';
    await this.raw('Fetch.fulfillRequest', {
      requestId,
      responseCode: body ? 200 : 404,
      responseHeaders: [{name: 'content-type', value: body ? type : 'text/plain'}],
      body: (body ?? Buffer.from('Not in the bundle')).toString('base64'),
    });
  }
}

module.exports = {DialogOpened, ElementGone, Page};
