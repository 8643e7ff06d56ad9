'use strict';

/** The driver that Appium finds for UiAutomator2: what Android calls things, in pixels. */

const {errors} = require('appium/driver');
const {AndroidGestures} = require('./android-gestures');
const {logcat} = require('./device-log');
const {METHODS} = require('./android-methods');
const tree = require('./android-tree');
const {pressEnter, pressKey} = require('./screen');
const uiselector = require('./uiselector');

const RENAMED = {
  contentDescription: 'content-desc', resourceId: 'resource-id', className: 'class', longClickable: 'long-clickable', name: 'content-desc',
};
const ATTRIBUTES = ['bounds', 'checkable', 'checked', 'class', 'clickable', 'content-desc', 'displayed', 'enabled', 'focusable', 'focused',
  'hint', 'index', 'long-clickable', 'package', 'password', 'resource-id', 'scrollable', 'selected', 'text'];
const HOME = 3;
const BACK = 4;
const VOLUME = new Set([24, 25]);
const POWER = 26;
const ENTER = 66;
const DELETE = 67;

const PLATFORM = {
  name: 'Android',
  idCapability: 'appPackage',
  browser: 'com.android.chrome',
  keyboard: {PORTRAIT: 280, LANDSCAPE: 190},
  agent: 'Mozilla/5.0 (Linux; Android 14; Pixel 8 simulated) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Mobile Safari/537.36',
  strategies: ['xpath', 'id', 'class name', 'accessibility id', '-android uiautomator'],
  logTypes: {logcat: {description: 'The log of the device', getter: ({deviceLog}) => deviceLog.take(logcat)}},
  // As on Android all web views of an app are one context, and its windows are told apart by their handles.
  contextNames: ({app, webviews}) => new Map(webviews.slice(0, 1).map(({page}) => [
    app.id === PLATFORM.browser ? 'CHROMIUM' : `WEBVIEW_${app.id}`, page,
  ])),
};

class UiAutomator2SimDriver extends AndroidGestures {
  static executeMethodMap = METHODS;

  get platform() {
    return PLATFORM;
  }

  platformCapabilities(app) {
    const {width, height, scale} = this.kind;
    return {
      platformName: 'Android', automationName: 'UiAutomator2', deviceUDID: this.udid, deviceScreenDensity: scale * 160,
      deviceScreenSize: `${Math.round(width * scale)}x${Math.round(height * scale)}`, pixelRatio: scale,
      ...(app ? {appPackage: app.id, appActivity: app.activity} : {}),
    };
  }

  platformTree(nodes, context) {
    const landscape = this.screen.orientation === 'LANDSCAPE' ? 1 : 0;
    return tree.source(nodes, {...context, pkg: this._package()}, this.screen.size, landscape);
  }

  platformSelect(strategy, selector, root, nodes) {
    switch (strategy) {
      case 'class name': return nodes.filter(({type}) => type === selector);
      case '-android uiautomator': return uiselector.find(nodes, selector);
      case 'accessibility id': return nodes.filter(({attributes}) => attributes['content-desc'] === selector);
      default: {
        const id = /^[a-zA-Z_][\w.]*:[^/]+\/\S+$/.test(selector) ? selector : `${this._package()}:id/${selector}`;
        return nodes.filter(({attributes}) => attributes['resource-id'] === id);
      }
    }
  }

  toPoints(length) {
    return Number(length) / this.kind.scale;
  }

  fromPoints(length) {
    return Math.round(length * this.kind.scale);
  }

  rectOf({attributes: {bounds}}) {
    const [left, top, right, bottom] = bounds.match(/-?\d+/g).map(Number);
    return {x: left, y: top, width: right - left, height: bottom - top};
  }

  pointsOf(node) {
    const rect = this.rectOf(node);
    return Object.fromEntries(Object.entries(rect).map(([name, length]) => [name, this.toPoints(length)]));
  }

  textOf({text}) {
    return text ?? '';
  }

  attributeOf({attributes}, name) {
    const key = RENAMED[name] ?? name;
    if (!ATTRIBUTES.includes(key)) {
      throw new errors.InvalidArgumentError(`The attribute '${name}' is unknown. Known are ${ATTRIBUTES.join(', ')}`);
    }
    // UiAutomator2 answers the text where "name" finds no description.
    return name === 'name' ? (attributes[key] ?? attributes.text) : attributes[key];
  }

  sliderValue(text, {min, max}) {
    const value = Number(text);
    if (value >= min && value <= max) return value;
    throw new errors.InvalidArgumentError(`The progress goes from ${min} to ${max}, not to '${text}'`);
  }

  async focusForTyping(target) {
    this.screen.touched(target.page);
    await this._inPage(target, 'focus');
  }

  async typePiece(page, text) {
    await page.send('Input.insertText', {text});
  }

  async back() {
    const running = this.screen.app;
    if (this.alerts.current) await this.alerts.dismiss();
    else if (this.screen.keyboard) await this.screen.typing.call('dismissKeyboard');
    else if (running) await this._backInApp(running.page);
    await this.screen.sync();
  }

  async _backInApp(page) {
    // An app that handles the key itself prevents the event's default.
    const left = await page.evaluate("dispatchEvent(new Event('backbutton', {cancelable: true}))");
    if (!left) return;
    if (await page.call('canGoBack')) await page.evaluate('history.back(), undefined');
    else await this.screen.goHome();
  }

  async hideKeyboard() {
    const shown = this.screen.keyboard > 0;
    if (shown) await this.screen.typing.call('dismissKeyboard');
    await this.screen.sync();
    return shown;
  }

  async getCurrentPackage() {
    return this._package();
  }

  async getCurrentActivity() {
    return this.screen.app?.app.activity ?? '.Launcher';
  }

  async getDisplayDensity() {
    return this.kind.scale * 160;
  }

  _package() {
    const {current} = this.alerts;
    if (current?.permission) return 'com.android.permissioncontroller';
    if (this.screen.locked) return 'com.android.systemui';
    return this.screen.app?.app.id ?? 'com.android.launcher';
  }

  // mobile: methods

  async mobileAcceptAlert(label) {
    await this.alerts.accept(label);
  }

  async mobileDismissAlert(label) {
    await this.alerts.dismiss(label);
  }

  async mobilePressKey(keycode) {
    const code = Number(keycode);
    const page = this.screen.app && this.screen.typing;
    if (code === BACK) await this.back();
    else if (code === HOME) await this.screen.goHome();
    else if (code === POWER) await this.screen.setLocked(!this.screen.locked);
    else if (code === ENTER && page) await pressEnter(page);
    else if (code === DELETE && page) await pressKey(page, 'Backspace', 8);
    else if (code >= 7 && code <= 16 && page) await this.type(page, String(code - 7));
    else if (code >= 29 && code <= 54 && page) await this.type(page, String.fromCharCode(code + 68));
    else if (code === 62 && page) await this.type(page, ' ');
    else if (!VOLUME.has(code)) throw new errors.InvalidArgumentError(`Key code ${keycode} is not simulated`);
    await this.screen.sync();
  }

  async mobileType(text) {
    if (!this.screen.app) throw new errors.InvalidElementStateError('No app is in front');
    await this.type(this.screen.typing, text);
    await this.screen.sync();
  }

  async mobileReplaceElementValue(elementId, text) {
    await this.clear(elementId);
    await this.setValue(text, elementId);
  }

  async mobileDeepLink(url, pkg) {
    await this.openLink(url, pkg);
  }

  async mobileStartActivity(intent, component) {
    const [pkg] = String(intent ?? component ?? '').split('/');
    await this.activateApp(pkg);
  }

  async mobileClearApp(id) {
    const app = this._installedApp(id);
    await this.screen.terminate(id);
    await this.screen.forget(app);
  }

  async mobileListApps() {
    return Object.fromEntries([...this.installed.values()].map(({id, version}) => [id, {versionName: version}]));
  }

  async mobileDeviceInfo() {
    const {width, height, scale, deviceName, platformVersion} = this.kind;
    return {
      brand: 'Simulated', manufacturer: 'Simulated', model: deviceName, platformVersion, apiVersion: String(Number(platformVersion) + 20),
      androidId: this.udid, realDisplaySize: `${Math.round(width * scale)}x${Math.round(height * scale)}`, displayDensity: scale * 160,
      simulated: true, locale: 'en_US', timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    };
  }

  async mobileBatteryInfo() {
    return {level: 1, state: 5};
  }

  async mobileViewportRect() {
    const {x, y, width, height} = await this.getWindowRect();
    return {left: x, top: y, width, height};
  }
}

module.exports = {UiAutomator2SimDriver};
