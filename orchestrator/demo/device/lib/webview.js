'use strict';

/** A web view's context: a real chromedriver, attached to the device's own Chromium. */

const {spawn} = require('node:child_process');
const {WebDriverProxy, errors} = require('appium/driver');
const {program} = require('./cdp');

const START_LIMIT = 15_000;
/** It takes a free port of IPv4, and ends when somebody has the one of IPv6 with that number. */
const TRIES = 3;
const TAKEN = 'it ended at once';
/** What the device itself answers, whatever the context; scripts may be mobile: commands, so they come by us. */
const OURS = ['contexts?$', 'appium/', 'orientation$', 'location$', 'rotation$', 'se/log', 'window/handles$', 'execute/sync$'];
const NOT_PROXIED = [
  ...['GET', 'POST'].flatMap((method) => OURS.map((end) => [method, new RegExp(`^/session/[^/]+/${end}`)])),
  ['POST', /^\/session\/[^/]+\/window$/],
];

class WebViewSession {
  /** @param {function} pages - answers the pages of the web views that the front app has now. */
  constructor(name, chromium, log, pages) {
    Object.assign(this, {name, chromium, log, pages});
  }

  async start(page) {
    const debuggerPort = await this.chromium.port();
    try {
      this.proxy = new WebDriverProxy({server: '127.0.0.1', port: await this._spawned(TRIES), base: '', log: this.log, keepAlive: true});
      await this.proxy.command('/session', 'POST', {
        capabilities: {alwaysMatch: {'goog:chromeOptions': {debuggerAddress: `127.0.0.1:${debuggerPort}`}, unhandledPromptBehavior: 'ignore'}},
      });
      await this.proxy.command('/window', 'POST', {handle: page.targetId});
    } catch (error) {
      await this.end();
      throw new errors.UnknownError(`chromedriver did not attach to ${this.name}: ${error.message}`);
    }
  }

  async handles() {
    const known = new Set(this.pages().map(({targetId}) => targetId));
    return (await this.proxy.command('/window/handles', 'GET')).filter((handle) => known.has(handle));
  }

  async select(handle) {
    if (!(await this.handles()).includes(handle)) throw new errors.NoSuchWindowError(`No web view has the window handle '${handle}'`);
    await this.proxy.command('/window', 'POST', {handle});
  }

  async end() {
    if (!this.child || this.child.exitCode !== null) return;
    // Its session is only attached: what ends it leaves the device's browser alone.
    if (this.proxy?.sessionId) await this.proxy.command('', 'DELETE').catch(() => {});
    this.child.kill('SIGTERM');
    const timer = setTimeout(() => this.child.kill('SIGKILL'), 2_000);
    await this.exit;
    clearTimeout(timer);
  }

  async _spawned(tries) {
    this.child = spawn(program('SIM_CHROMEDRIVER', ['chromedriver']), ['--port=0'], {stdio: ['ignore', 'pipe', 'ignore']});
    this.exit = new Promise((resolve) => this.child.once('exit', resolve));
    try {
      return await this._port();
    } catch (error) {
      if (tries === 1 || error.message !== TAKEN) throw error;
      return await this._spawned(tries - 1);
    }
  }

  _port() {
    return new Promise((resolve, reject) => {
      let said = '';
      const timer = setTimeout(() => reject(new Error('it did not say its port')), START_LIMIT);
      this.child.once('error', reject);
      this.exit.then(() => reject(new Error(TAKEN)));
      this.child.stdout.on('data', (data) => {
        said += data;
        const port = /started successfully on port (\d+)/.exec(said)?.[1];
        if (!port) return;
        clearTimeout(timer);
        resolve(Number(port));
      });
    });
  }
}

module.exports = {NOT_PROXIED, WebViewSession};
