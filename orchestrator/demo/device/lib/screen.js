'use strict';

/** The screen of one device: the apps, the system's own pages above them, and what lies where. Lengths are points. */

const fs = require('node:fs');
const path = require('node:path');
const {DialogOpened, Page} = require('./page');

const SYSTEM = {origin: 'https://system.test', folder: path.join(__dirname, '..', 'system')};
const ASKS = fs.readFileSync(path.join(__dirname, 'inpage', 'asks.js'), 'utf8');

class Screen {
  /** @param {object} options - `chromium`, `kind` (of devices.js), `platform` {name, keyboard, agent}, `alerts` (of alerts.js). */
  constructor({chromium, kind, platform, alerts, log, deviceLog}) {
    Object.assign(this, {chromium, kind, platform, alerts, log, deviceLog});
    this.orientation = 'PORTRAIT';
    this.running = new Map();
    this.front = undefined;
    this.locked = false;
    this.keyboard = 0;
    this.shown = '';
  }

  get size() {
    const {width, height} = this.kind;
    return this.orientation === 'PORTRAIT' ? {width, height} : {width: height, height: width};
  }

  get fullRect() {
    return {x: 0, y: 0, ...this.size};
  }

  /** What is in front, if it is an app that can be seen. */
  get app() {
    return this.locked ? undefined : this.running.get(this.front);
  }

  /** The page that keys go to: the one of the front app that was touched last. */
  get typing() {
    return this.app?.focused ?? this.app?.page ?? this.system;
  }

  touched(page) {
    if (this.app && page !== this.system) this.app.focused = page;
  }

  async start(installed) {
    this.installed = installed;
    this.system = new Page(this.chromium, {
      rect: this.fullRect, scale: this.kind.scale, serve: SYSTEM, asks: (message) => this._pressed(message),
    });
    await this.system.open(`${SYSTEM.origin}/index.html`);
    await this.refresh();
  }

  /** Bring an app to the front, starting it where it does not run; `url` is what it opens. */
  async activate(app, url = undefined) {
    let running = this.running.get(app.id);
    if (!running) {
      running = {app, webviews: [], page: this._appPage(app)};
      this.running.set(app.id, running);
      this.front = app.id;
      await running.page.open(url ?? app.url).catch(ignoreDialog);
    }
    this.front = app.id;
    await this.sync();
  }

  async terminate(id) {
    const running = this.running.get(id);
    if (!running) return false;
    this.running.delete(id);
    if (this.front === id) this.front = undefined;
    for (const {page} of [...running.webviews, running]) this.alerts.dropOf(page);
    await Promise.all([...running.webviews, running].map(({page}) => page.close()));
    await this.sync();
    return true;
  }

  async goHome() {
    this.front = undefined;
    await this.sync();
  }

  async setLocked(locked) {
    this.locked = locked;
    await this.sync();
  }

  async setOrientation(orientation) {
    this.orientation = orientation;
    await this.system.resize(this.fullRect);
    await this.sync();
  }

  /** Set where the device is, in degrees and metres; undefined: nobody knows. */
  async setLocation(location) {
    this.location = location;
    const pages = [...this.running.values()].flatMap((running) => [running, ...running.webviews]).map(({page}) => page);
    await Promise.all(pages.map((page) => page.locate(location)));
  }

  /** Remove what an app has stored and may do. */
  async forget(app) {
    this.alerts.forget(app);
    await this.system.raw('Storage.clearDataForOrigin', {origin: app.origin, storageTypes: 'all'});
    await this.chromium.send('Browser.resetPermissions');
  }

  /** Give the front app what it wants of the device: a keyboard, web views. */
  async sync() {
    if (!this.alerts.current && this.app) {
      try {
        await this._grant(this.app);
      } catch (error) {
        ignoreDialog(error);
      }
    } else if (!this.app) {
      this.keyboard = 0;
    }
    await this.refresh();
  }

  /** Let the system's own page show what now holds. */
  async refresh() {
    const apps = this.locked || this.app ? undefined : [...this.installed.values()].map(({id, name}) => ({id, name}));
    const state = {
      platform: this.platform.name, apps, locked: this.locked, keyboard: this.keyboard, alert: this.alerts.shown,
    };
    const text = JSON.stringify(state);
    if (text === this.shown) return;
    this.shown = text;
    await this.system.evaluate(`show(${text})`);
  }

  /** The pages to be read, the topmost only where it covers the others: `{page, at}` with `at` its corner on the screen; an alert
   *  only where the reader `sees` it. */
  surfaces(sees = () => true) {
    const running = this.app;
    if ((this.alerts.current && sees(this.alerts.current)) || !running) return [{page: this.system, at: {x: 0, y: 0}, system: true}];
    return [{page: running.page, at: {x: 0, y: 0}, webviews: running.webviews}];
  }

  /** The page at a point, and its corner. */
  pageAt({x, y}) {
    const running = this.app;
    if (this.alerts.current || !running || y >= this.size.height - this.keyboard) return {page: this.system, at: {x: 0, y: 0}};
    const inside = ({rect}) => x >= rect.x && y >= rect.y && x < rect.x + rect.width && y < rect.y + rect.height;
    const webview = running.webviews.find(({page}) => inside(page));
    return webview ? {page: webview.page, at: webview.page.rect} : {page: running.page, at: {x: 0, y: 0}};
  }

  /** What stands in the text field of the alert. */
  typedIntoAlert() {
    return this.system.evaluate("document.querySelector('#alert input').value");
  }

  /** A picture of all of it, as base64 of a PNG in device pixels; `clip` in points. */
  async screenshot(clip = undefined) {
    await this.sync();
    const running = this.app;
    const covered = this.alerts.current || this.keyboard > 0;
    if (running && !covered && running.webviews.length === 0) return running.page.screenshot(clip);
    const layers = [];
    for (const {page} of running ? [running, ...running.webviews] : []) {
      const data = page.dialogOpen ? page.lastFrame : await page.screenshot();
      if (data) layers.push({data, ...page.rect});
    }
    await this.system.evaluate(`backdrop(${JSON.stringify(layers)})`);
    return this.system.screenshot(clip);
  }

  async _grant(running) {
    const wants = await running.page.call('wants');
    const {keyboard} = this.typing === running.page ? wants : await this.typing.call('wants');
    const height = keyboard ? this.platform.keyboard[this.orientation] : 0;
    this.keyboard = height;
    const rect = this._appRect();
    const changed = JSON.stringify(rect) !== JSON.stringify(running.page.rect);
    if (changed) {
      await running.page.resize(rect);
      await this.typing.call('revealFocused');
    }
    await this._webviews(running, changed ? (await running.page.call('wants')).webviews : wants.webviews);
  }

  async _webviews(running, wanted) {
    for (const webview of [...running.webviews]) {
      if (wanted.some(({id, src}) => id === webview.id && src === webview.src)) continue;
      running.webviews.splice(running.webviews.indexOf(webview), 1);
      if (running.focused === webview.page) running.focused = undefined;
      await webview.page.close();
    }
    for (const {id, src, rect} of wanted) {
      let webview = running.webviews.find((each) => each.id === id);
      if (!webview) {
        const page = this._page({rect, serve: running.app, agent: this.platform.agent});
        webview = {id, src, page};
        await page.open(new URL(src, running.app.url).href);
        running.webviews.push(webview);
      } else if (JSON.stringify(webview.page.rect) !== JSON.stringify(rect)) {
        await webview.page.resize(rect);
      }
    }
  }

  // A web view that is just being opened belongs to the front app.
  _owner(page) {
    const all = [...this.running.values()];
    return (all.find((running) => running.page === page || running.webviews.some((webview) => webview.page === page)) ?? this.app)?.app;
  }

  _appRect() {
    return {x: 0, y: 0, width: this.size.width, height: this.size.height - this.keyboard};
  }

  _appPage(app) {
    const bar = {platform: this.platform.name, height: this.kind.insets.top, side: this.kind.insets.top > 40 ? 32 : 16};
    return this._page({rect: this.fullRect, serve: app, agent: this.platform.agent, insets: this.kind.insets, statusBar: bar, watched: true});
  }

  _page(options) {
    return new Page(this.chromium, {
      scale: this.kind.scale,
      script: ASKS,
      asks: (question, page) => this.alerts.permission(this._owner(page), page, question),
      dialog: (page, dialog) => this.alerts.dialog(page, dialog),
      dialogClosed: (page) => this.alerts.closed(page),
      location: this.location,
      log: {
        said: (page, said) => this.deviceLog.said(this._owner(page), said),
        threw: (page, thrown) => this.deviceLog.threw(this._owner(page), thrown),
      },
      ...options,
    });
  }

  // What somebody touched on the system's own page.
  async _pressed(message) {
    try {
      if (message.launch) await this.activate(this.installed.get(message.launch));
      else if (message.key) await this.pressKeyboardKey(message.key);
      else await this.alerts.press(message.answer);
    } catch (error) {
      this.log.warn(`The system screen: ${error.message}`);
    }
  }

  async pressKeyboardKey(name) {
    const page = this.typing;
    if (name === 'Return') await pressEnter(page);
    else if (name === 'delete') await pressKey(page, 'Backspace', 8);
    else if (name !== 'shift') await page.send('Input.insertText', {text: name === 'space' ? ' ' : name});
  }
}

async function pressKey(page, key, code, text = undefined) {
  const event = {key, code: key, windowsVirtualKeyCode: code, nativeVirtualKeyCode: code, text};
  await page.send('Input.dispatchKeyEvent', {type: text ? 'keyDown' : 'rawKeyDown', ...event});
  await page.send('Input.dispatchKeyEvent', {type: 'keyUp', ...event, text: undefined});
}

const pressEnter = (page) => pressKey(page, 'Enter', 13, '\r');

function ignoreDialog(error) {
  if (!(error instanceof DialogOpened)) throw error;
}

module.exports = {Screen, ignoreDialog, pressEnter, pressKey};
