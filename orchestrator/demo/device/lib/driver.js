'use strict';

/** What both simulated drivers have in common: the session, its device, and the commands of both platforms. */

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const {BaseDriver, errors} = require('appium/driver');
const {Alerts} = require('./alerts');
const {builtIn, readBundle} = require('./apps');
const {Chromium} = require('./cdp');
const {DeviceLog} = require('./device-log');
const devices = require('./devices');
const {Faults, FAULT_CAPABILITIES} = require('./faults');
const {Fingers, sleep} = require('./gestures');
const {DialogOpened} = require('./page');
const {Screen} = require('./screen');
const {NOT_PROXIED, WebViewSession} = require('./webview');

const NATIVE = 'NATIVE_APP';

const CAPABILITIES = {
  app: {isString: true}, bundleId: {isString: true}, appPackage: {isString: true}, appActivity: {isString: true},
  deviceName: {isString: true}, platformVersion: {isString: true}, udid: {isString: true}, orientation: {isString: true},
  autoAcceptAlerts: {isBoolean: true}, autoDismissAlerts: {isBoolean: true}, autoGrantPermissions: {isBoolean: true},
  autoLaunch: {isBoolean: true}, autoWebview: {isBoolean: true}, otherApps: {},
  ...FAULT_CAPABILITIES,
};

class SimDriver extends BaseDriver {
  constructor(opts, shouldValidateCaps = true) {
    super(opts, shouldValidateCaps);
    this.desiredCapConstraints = CAPABILITIES;
    this.locatorStrategies = this.platform.strategies;
    this.scriptMs = 30_000;
    this.pageLoadMs = 300_000;
    this.clipboard = '';
    this.lastActive = undefined;
  }

  async createSession(...args) {
    const [sessionId] = await super.createSession(...args);
    this.faults = new Faults(this.opts, this.log);
    try {
      await this.faults.atStart();
      await this._boot(sessionId);
      this.faults.begin(this);
    } catch (error) {
      await this.deleteSession(sessionId);
      if (error instanceof errors.SessionNotCreatedError) throw error;
      throw new errors.SessionNotCreatedError(error.message);
    }
    return [sessionId, this.caps];
  }

  async deleteSession(sessionId) {
    this.faults?.end();
    await this.webview?.end();
    this.webview = undefined;
    await this.chromium?.end();
    if (this.folder) await fs.promises.rm(this.folder, {recursive: true, force: true, maxRetries: 5, retryDelay: 100});
    if (this.udid) devices.giveBack(this.udid, this.deviceOwner);
    this.udid = undefined;
    await super.deleteSession(sessionId);
  }

  async executeCommand(command, ...args) {
    await this.faults?.before(command, args);
    return super.executeCommand(command, ...args);
  }

  async _boot(sessionId) {
    const {name} = this.platform;
    this.kind = devices.kindOf(name, this.opts.deviceName, this.opts.platformVersion);
    this.deviceOwner = sessionId;
    this.udid = devices.take(name, this.opts.udid, sessionId);
    this.folder = fs.mkdtempSync(path.join(os.tmpdir(), 'sim-device-'));
    this.installed = new Map();
    for (const app of await builtIn(name, this.folder)) this.installed.set(app.id, app);
    const first = await this._firstApp();
    this.chromium = new Chromium(path.join(this.folder, 'profile'));
    this.chromium.once('gone', (reason) => this._lost(reason));
    await this.chromium.start(this.kind.width, this.kind.height);
    this.alerts = new Alerts({
      platform: name, grant: Boolean(this.opts.autoGrantPermissions),
      policy: this.opts.autoAcceptAlerts ? 'accept' : this.opts.autoDismissAlerts ? 'dismiss' : undefined,
      changed: () => this.screen.refresh(),
      typed: () => this.screen.typedIntoAlert(),
    });
    this.deviceLog = new DeviceLog();
    this.screen = new Screen({
      chromium: this.chromium, kind: this.kind, platform: this.platform, alerts: this.alerts, log: this.log, deviceLog: this.deviceLog,
    });
    this.fingers = new Fingers(this.screen, (length) => this.fromPoints(length));
    await this.screen.start(this.installed);
    Object.assign(this.caps, {
      deviceName: this.kind.deviceName, platformVersion: this.kind.platformVersion, udid: this.udid, simulated: true,
      ...this.platformCapabilities(first),
    });
    if (first && this.opts.autoLaunch !== false) await this.screen.activate(first);
    if (this.opts.orientation) await this.setOrientation(this.opts.orientation);
    if (this.opts.browserName || this.opts.autoWebview) await this.setContext((await this.getContexts())[1] ?? NATIVE);
  }

  async _firstApp() {
    for (const bundle of [this.opts.app, ...[this.opts.otherApps ?? []].flat()].filter(Boolean)) await this._install(bundle);
    const id = this.opts[this.platform.idCapability];
    if (id) return this._installedApp(id, errors.SessionNotCreatedError);
    if (this.opts.app) return [...this.installed.values()].find(({bundle}) => bundle === this.opts.app);
    return this.opts.browserName ? this._installedApp(this.platform.browser) : undefined;
  }

  async _install(bundle) {
    const app = await readBundle(bundle, this.platform.name, this.folder);
    app.bundle = bundle;
    this.installed.set(app.id, app);
    return app;
  }

  _installedApp(id, Failure = errors.InvalidArgumentError) {
    const app = this.installed.get(id);
    if (app) return app;
    throw new Failure(`The app '${id}' is not installed on ${this.kind.deviceName}. Installed: ${[...this.installed.keys()].join(', ')}`);
  }

  _lost(reason) {
    const error = new errors.NoSuchDriverError(`The simulated device crashed: ${reason}`);
    this.startUnexpectedShutdown(error).catch((cause) => this.log.warn(cause.message));
  }

  /** What the device does now and then: again, once, when a dialog came in between. */
  async withScreen(act) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof DialogOpened)) throw error;
      return act();
    }
  }

  // Logs

  /** As Appium wants them; a web view's console is its chromedriver's. */
  get supportedLogTypes() {
    const browser = {
      description: 'The console of the web view',
      getter: ({webview}) => webview.proxy.command('/se/log', 'POST', {type: 'browser'}),
    };
    return {...this.platform.logTypes, ...(this.webview && {browser})};
  }

  // Timeouts

  async getTimeouts() {
    return {implicit: this.implicitWaitMs, script: this.scriptMs, pageLoad: this.pageLoadMs};
  }

  async scriptTimeoutW3C(ms) {
    this.scriptMs = this.parseTimeoutArgument(ms);
  }

  async pageLoadTimeoutW3C(ms) {
    this.pageLoadMs = this.parseTimeoutArgument(ms);
  }

  // Contexts

  async getContexts() {
    await this.screen.sync();
    return [NATIVE, ...this._webviewNames().keys()];
  }

  async getCurrentContext() {
    return this.webview?.name ?? NATIVE;
  }

  async setContext(name) {
    if (!name || name === NATIVE) {
      this.webview = void (await this.webview?.end());
      return;
    }
    await this.screen.sync();
    const names = this._webviewNames();
    const page = names.get(name) ?? (/^WEBVIEW$/i.test(name) ? [...names.values()][0] : undefined);
    if (!page) throw new errors.NoSuchContextError(`No such context '${name}'. There are ${[NATIVE, ...names.keys()].join(', ')}`);
    await this.webview?.end();
    this.webview = undefined;
    const webview = new WebViewSession(name, this.chromium, this.log, () => [...this._webviewNames().values()]);
    await webview.start(page);
    this.webview = webview;
  }

  _webviewNames() {
    const running = this.screen.app;
    if (!running) return new Map();
    return this.platform.contextNames(running);
  }

  proxyActive() {
    return Boolean(this.webview);
  }

  canProxy() {
    return true;
  }

  getProxyAvoidList() {
    return NOT_PROXIED;
  }

  async proxyReqRes(req, res) {
    await this.webview.proxy.proxyReqRes(req, res);
  }

  async proxyCommand(url, method, body) {
    return this.webview.proxy.command(url, method, body);
  }

  async getWindowHandles() {
    this._needsWebView();
    return this.webview.handles();
  }

  async setWindow(handle) {
    this._needsWebView();
    await this.webview.select(handle);
  }

  _needsWebView() {
    if (!this.webview) throw new errors.UnknownCommandError('This command works in a web view; the context is NATIVE_APP');
  }

  // Scripts

  async execute(script, args) {
    if (/^\s*mobile\s*:/.test(script)) return this.executeMethod(script.trim().replace(/^mobile\s*:\s*/, 'mobile: '), args);
    if (this.webview) return this.webview.proxy.command('/execute/sync', 'POST', {script, args});
    throw new errors.UnknownMethodError(`'${script}' is no mobile: command, and scripts run in a web view only`);
  }

  // Waiting

  /** Look again every 100 ms until `look` answers something, as long as the implicit wait lasts. */
  async implicitly(look) {
    const end = Date.now() + this.implicitWaitMs;
    for (;;) {
      const found = await look();
      if (found || Date.now() >= end) return found;
      await sleep(Math.min(100, Math.max(1, end - Date.now())));
    }
  }
}

module.exports = {NATIVE, SimDriver};
