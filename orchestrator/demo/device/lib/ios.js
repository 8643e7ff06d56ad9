'use strict';

/** The driver that Appium finds for XCUITest: what iOS calls things, in points. */

const {errors} = require('appium/driver');
const {DeviceDriver, STATES} = require('./device');
const {syslog} = require('./device-log');
const tree = require('./ios-tree');
const {METHODS} = require('./ios-methods');
const predicate = require('./predicate');
const {ignoreDialog} = require('./screen');

const ATTRIBUTES = new Set(['accessible', 'enabled', 'height', 'index', 'label', 'name', 'placeholderValue', 'rect', 'selected', 'traits',
  'type', 'value', 'visible', 'width', 'x', 'y']);
const OPPOSITE = {up: 'down', down: 'up', left: 'right', right: 'left'};
const SWIPE_VELOCITY = 1500;

// XCUITest names all of its logs, and refuses those that no capability has switched on.
function switchedOff(log, capability) {
  throw new errors.UnknownError(`${log} logs are not enabled. Make sure you've set a proper value to the 'appium:${capability}' capability.`);
}

const PLATFORM = {
  name: 'iOS',
  idCapability: 'bundleId',
  browser: 'com.apple.mobilesafari',
  keyboard: {PORTRAIT: 300, LANDSCAPE: 210},
  agent: 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Simulated Mobile/15E148',
  strategies: ['xpath', 'id', 'name', 'class name', '-ios predicate string', '-ios class chain', 'accessibility id'],
  logTypes: {
    syslog: {description: 'The log of the device', getter: ({deviceLog}) => deviceLog.take(syslog)},
    crashlog: {description: 'Reports of crashes', getter: () => []},
    performance: {description: 'Timelines', getter: () => switchedOff('performance', 'enablePerformanceLogging')},
    safariConsole: {description: 'The console of Safari', getter: () => switchedOff('safariConsole', 'showSafariConsoleLog')},
    safariNetwork: {description: 'The requests of Safari', getter: () => switchedOff('safariNetwork', 'showSafariNetworkLog')},
  },
  contextNames: ({webviews}) => new Map(webviews.map(({page}, index) => [`WEBVIEW_${process.pid}.${index + 1}`, page])),
};

class XCUITestSimDriver extends DeviceDriver {
  static executeMethodMap = METHODS;

  get platform() {
    return PLATFORM;
  }

  // The system's alerts belong to another app: they are in the source where this setting says so.
  seesAlert({permission}) {
    return !permission || this.settings.getSettings().respectSystemAlerts === true;
  }

  // XCTest knows no more of it than that it does not run.
  get absent() {
    return STATES.notRunning;
  }

  async createSession(...args) {
    const created = await super.createSession(...args);
    if (this.opts.autoLaunch !== false) this.tested = this.caps.bundleId;
    return created;
  }

  // An app that is to run and does not must have crashed: then nothing is looked at until it is launched again.
  async tree() {
    if (this.tested && !this.screen.running.has(this.tested)) {
      throw new errors.InvalidElementStateError(`The application under test with bundle id '${this.tested}' is not running, possibly crashed`);
    }
    return super.tree();
  }

  async terminateApp(id) {
    if (id === this.tested) this.tested = undefined;
    return super.terminateApp(id);
  }

  async mobileLaunchApp(id) {
    await this.activateApp(id);
    if (id === this.caps.bundleId) this.tested = id;
  }

  platformCapabilities(app) {
    return {platformName: 'iOS', automationName: 'XCUITest', ...(app ? {bundleId: app.id} : {})};
  }

  platformTree(nodes, context, keyboard) {
    const name = this.screen.app?.app.name ?? (this.screen.locked ? 'Lock Screen' : 'SpringBoard');
    const root = tree.source(nodes, context, this.screen.size, name);
    if (keyboard.length) {
      const [application] = root.children;
      application.children.push(...tree.converted(keyboard, {page: this.screen.system, at: {x: 0, y: 0}, webviews: []}));
    }
    return root;
  }

  platformSelect(strategy, selector, root, nodes) {
    switch (strategy) {
      case 'class name': return nodes.filter(({type}) => type === selector);
      case '-ios predicate string': return predicate.find(nodes, selector);
      case '-ios class chain': return predicate.findChain(root.type === 'AppiumAUT' ? root.children[0] : root, selector);
      default: return nodes.filter(({attributes}) => attributes.name === selector);
    }
  }

  toPoints(length) {
    return Number(length);
  }

  fromPoints(length) {
    return length;
  }

  rectOf({attributes: {x, y, width, height}}) {
    return {x, y, width, height};
  }

  pointsOf(node) {
    return this.rectOf(node);
  }

  textOf({value, label}) {
    return String(value ?? label ?? '');
  }

  attributeOf(node, name) {
    if (!ATTRIBUTES.has(name)) {
      throw new errors.InvalidArgumentError(`The attribute '${name}' is unknown. Known are ${[...ATTRIBUTES].join(', ')}`);
    }
    return name === 'rect' ? JSON.stringify(this.rectOf(node)) : node.attributes[name];
  }

  sliderValue(text, {min, max}) {
    const share = Number(text);
    if (share >= 0 && share <= 1) return min + share * (max - min);
    throw new errors.InvalidArgumentError(`A slider is set to its share from 0 to 1, not '${text}'`);
  }

  async focusForTyping(target, id) {
    if (await target.page.call('focusedId') !== target.id) await this.click(id);
    if (await target.page.call('focusedId') !== target.id) {
      throw new errors.InvalidElementStateError('The text field did not take the keyboard focus');
    }
    await target.page.call('focus', target.id);
  }

  async typePiece(page, text) {
    for (const character of text) {
      const event = {key: character, text: character, unmodifiedText: character};
      await page.send('Input.dispatchKeyEvent', {type: 'keyDown', ...event}).catch(ignoreDialog);
      await page.send('Input.dispatchKeyEvent', {type: 'keyUp', key: character}).catch(ignoreDialog);
    }
  }

  async back() {
    const [button] = await this._select('-ios class chain', '**/XCUIElementTypeNavigationBar/**/XCUIElementTypeButton');
    if (!button) throw new errors.UnknownError('There is no navigation bar with a back button');
    await this.click(this.reference(button));
  }

  async hideKeyboard() {
    if (this.screen.keyboard) await this.screen.typing.call('blur');
    await this.screen.sync();
    return true;
  }

  // mobile: methods

  async mobileTap(x, y, elementId) {
    await this.fingers.tap(await this.point(x, y, elementId));
  }

  async mobileDoubleTap(elementId, x, y) {
    await this.fingers.tap(await this.point(x, y, elementId), 2);
  }

  async mobileTapWithNumberOfTaps(numberOfTaps, numberOfTouches = 1, elementId = undefined) {
    if (numberOfTouches !== 1) throw new errors.InvalidArgumentError('One finger taps here; numberOfTouches must be 1');
    const {x, y, width, height} = await this.area(elementId);
    await this.fingers.tap({x: x + width / 2, y: y + height / 2}, numberOfTaps);
  }

  async mobileTouchAndHold(duration, x, y, elementId) {
    await this.fingers.hold(await this.point(x, y, elementId), duration * 1000);
  }

  async mobileDrag(duration, fromX, fromY, toX, toY, elementId) {
    const [from, to] = [await this.point(fromX, fromY, elementId), await this.point(toX, toY, elementId)];
    await this.fingers.drag(from, to, {pause: duration * 1000, duration: 400, rest: 100});
  }

  async mobileSwipe(direction, velocity, elementId) {
    const area = await this.area(elementId);
    const share = elementId ? 0.7 : 0.5;
    const length = share * (['left', 'right'].includes(direction) ? area.width : area.height);
    await this.stroke(area, direction, share, {duration: Math.max(60, 1000 * length / (velocity ?? SWIPE_VELOCITY))});
  }

  async mobileScroll(direction, elementId, distance = 0.7, name = undefined, predicateString = undefined, toVisible = undefined) {
    if (name || predicateString) return this._scrollTo(name ? `name == '${name.replaceAll("'", "\\'")}'` : predicateString, elementId);
    if (toVisible) return this.mobileScrollToElement(elementId);
    if (!OPPOSITE[direction]) throw new errors.InvalidArgumentError('One of direction, name, predicateString, toVisible is needed');
    return this.stroke(await this.area(elementId), OPPOSITE[direction], Math.min(1, distance) * 0.8, {duration: 400, rest: 150});
  }

  async _scrollTo(wanted, context) {
    const [node] = await this._select('-ios predicate string', wanted, context);
    if (!node) throw new errors.NoSuchElementError(`No element was found by ${wanted}`);
    await this._inPage(node.target, 'reveal');
  }

  async mobileScrollToElement(elementId) {
    const {target} = await this.node(elementId);
    await this._inPage(target, 'reveal');
  }

  async mobilePinch(scale, velocity, elementId) {
    const area = await this.area(elementId);
    const far = Math.min(area.width, area.height) * 0.45;
    const [from, to] = scale > 1 ? [far / scale, far] : [far, far * scale];
    // The velocity is the change of the scale in a second.
    const duration = Math.min(2000, Math.max(200, 1000 * Math.abs(scale - 1) / (Math.abs(velocity) || 1)));
    await this.fingers.pinch(area, Math.max(from, 4), Math.max(to, 4), duration);
  }

  async mobileAlert(action, buttonLabel) {
    if (action === 'accept') await this.alerts.accept(buttonLabel);
    else if (action === 'dismiss') await this.alerts.dismiss(buttonLabel);
    else if (action === 'getButtons') return (this.alerts.text(), this.alerts.shown.buttons.map(({label}) => label));
    else throw new errors.InvalidArgumentError(`Action '${action}' is none of accept, dismiss, getButtons`);
    return undefined;
  }

  async mobilePressButton(name) {
    if (name.toLowerCase() === 'home') await this.screen.goHome();
    else if (!/^volume(up|down)$/i.test(name)) throw new errors.InvalidArgumentError(`Button '${name}' is none of home, volumeUp, volumeDown`);
  }

  async mobileShake() {
    await this.screen.app?.page.evaluate("dispatchEvent(new Event('shake')), undefined");
  }

  async mobileDeepLink(url, bundleId) {
    await this.openLink(url, bundleId);
  }

  async mobileListApps(applicationType = 'User') {
    const apps = [...this.installed.values()].filter(({system}) => (system ? 'System' : 'User') === applicationType);
    return Object.fromEntries(apps.map(({id, name, version}) => [id, {
      CFBundleIdentifier: id, CFBundleName: name, CFBundleVersion: version, ApplicationType: applicationType,
    }]));
  }

  async mobileActiveAppInfo() {
    const app = this.screen.app?.app;
    return {bundleId: app?.id ?? 'com.apple.springboard', name: app?.name ?? '', pid: process.pid};
  }

  async mobileDeviceInfo() {
    return {
      name: this.kind.deviceName, model: 'iPhone', uuid: this.udid, isSimulator: true, simulated: true, currentLocale: 'en_US',
      timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone, userInterfaceStyle: 'light',
    };
  }

  async mobileBatteryInfo() {
    return {level: 1, state: 3};
  }

  async mobileScreenInfo() {
    const {width, height} = this.screen.size;
    return {statusBarSize: {width, height: this.kind.insets.top}, scale: this.kind.scale};
  }

  async mobileGetContexts() {
    const names = await this.getContexts();
    const pages = this._webviewNames();
    return Promise.all(names.map(async (id) => {
      if (!pages.has(id)) return {id};
      const [title, url] = await pages.get(id).evaluate('[document.title, location.href]');
      return {id, title, url, bundleId: this.screen.front};
    }));
  }

  async mobileSource(format = 'xml') {
    if (format !== 'xml') throw new errors.InvalidArgumentError(`The source comes as xml, not as '${format}'`);
    return this.getPageSource();
  }
}

module.exports = {XCUITestSimDriver};
