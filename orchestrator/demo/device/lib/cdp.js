'use strict';

/** A Chromium of its own for one device, spoken to in the Chrome DevTools Protocol over a pipe. */

const {spawn} = require('node:child_process');
const {EventEmitter} = require('node:events');
const fs = require('node:fs');
const path = require('node:path');

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
const COMMAND_LIMIT = 30_000;
const END_LIMIT = 3_000;

const SWITCHES = [
  '--headless=new',
  '--remote-debugging-pipe',
  // chromedriver, which serves the web views, attaches here; a free port of Chromium's choice.
  '--remote-debugging-port=0',
  '--no-first-run',
  '--no-default-browser-check',
  '--no-proxy-server',
  '--disable-background-networking',
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-component-update',
  '--disable-dev-shm-usage',
  '--disable-extensions',
  '--disable-renderer-backgrounding',
  '--disable-sync',
  // Apps on this machine may speak to a demonstration's server on this machine.
  '--disable-features=LocalNetworkAccessChecks,Translate,OptimizationHints,MediaRouter,WebUIOmniboxPopup,WebUIOmniboxAimPopup',
  '--force-color-profile=srgb',
  '--hide-scrollbars',
  '--mute-audio',
  '--password-store=basic',
  '--use-mock-keychain',
];

/** The path of a program: the environment's choice, else the first of these names on PATH. */
function program(variable, names) {
  if (process.env[variable]) return process.env[variable];
  const endings = process.platform === 'win32' ? ['.exe'] : [''];
  for (const folder of (process.env.PATH ?? '').split(path.delimiter)) {
    for (const name of names) {
      for (const ending of endings) {
        const candidate = path.join(folder, name + ending);
        if (folder && fs.existsSync(candidate)) return candidate;
      }
    }
  }
  throw new Error(`The simulated device needs ${names[0]}: put it on PATH or set ${variable}`);
}

/** Emits `gone` when Chromium ended by itself, and every event as `<session>/<method>`. */
class Chromium extends EventEmitter {
  constructor(profile) {
    super();
    this.setMaxListeners(0);
    this.profile = profile;
    this.waiting = new Map();
    this.lastId = 0;
    this.ended = false;
  }

  /** Start it; resolves when it answers. */
  async start(width, height) {
    const args = [...SWITCHES, `--user-data-dir=${this.profile}`, `--window-size=${width},${height}`];
    if (process.getuid?.() === 0) args.push('--no-sandbox');
    this.child = spawn(program('SIM_CHROMIUM', NAMES), [...args, 'about:blank'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    });
    this.exit = new Promise((resolve) => {
      this.child.once('error', resolve);
      this.child.once('exit', resolve);
    });
    this.exit.then((cause) => this._gone(cause));
    const [, , , into, from] = this.child.stdio;
    into.on('error', () => {});
    this.pieces = [];
    from.on('data', (data) => this._read(data));
    await this.send('Browser.getVersion');
    await this.send('Target.setDiscoverTargets', {discover: true});
  }

  /** The port at which chromedriver can attach. */
  async port() {
    const file = path.join(this.profile, 'DevToolsActivePort');
    for (let left = 100; left > 0; left -= 1) {
      if (fs.existsSync(file)) {
        const number = parseInt(fs.readFileSync(file, 'utf8'), 10);
        if (number) return number;
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error('Chromium did not say its debugging port');
  }

  /** One command; `session` is a target's, none is the browser's own. */
  send(method, params = {}, session = undefined, limit = COMMAND_LIMIT) {
    if (this.ended) return Promise.reject(new Error('The browser of the simulated device has ended'));
    const id = ++this.lastId;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.waiting.delete(id);
        reject(new Error(`The simulated device did not answer ${method} within ${limit} ms`));
      }, limit);
      this.waiting.set(id, {resolve, reject, timer, method});
      this.child.stdio[3].write(`${JSON.stringify({id, method, params, sessionId: session})}\0`);
    });
  }

  /** End it and remove its profile; safe to call twice. */
  async end() {
    this.ending = true;
    if (this.child && !this.ended) {
      this.send('Browser.close').catch(() => {});
      const timer = setTimeout(() => this.child.kill('SIGKILL'), END_LIMIT);
      await this.exit;
      clearTimeout(timer);
    }
    // Its helpers may still write for a moment.
    await fs.promises.rm(this.profile, {recursive: true, force: true, maxRetries: 10, retryDelay: 100});
  }

  _read(data) {
    let rest = data;
    for (let at = rest.indexOf(0); at >= 0; at = rest.indexOf(0)) {
      const message = Buffer.concat([...this.pieces, rest.subarray(0, at)]).toString('utf8');
      this.pieces = [];
      rest = rest.subarray(at + 1);
      this._message(JSON.parse(message));
    }
    if (rest.length) this.pieces.push(rest);
  }

  _message({id, result, error, method, params, sessionId}) {
    if (!id) {
      this.emit(`${sessionId ?? ''}/${method}`, params);
      return;
    }
    const waiter = this.waiting.get(id);
    if (!waiter) return;
    this.waiting.delete(id);
    clearTimeout(waiter.timer);
    if (error) waiter.reject(new Error(`${waiter.method}: ${error.message}`));
    else waiter.resolve(result);
  }

  _gone(cause) {
    this.ended = true;
    const reason = cause instanceof Error ? cause.message : 'it ended';
    for (const {reject, timer} of this.waiting.values()) {
      clearTimeout(timer);
      reject(new Error(`The browser of the simulated device is gone: ${reason}`));
    }
    this.waiting.clear();
    if (!this.ending) this.emit('gone', reason);
  }
}

module.exports = {Chromium, program};
