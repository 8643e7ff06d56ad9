'use strict';

/** What a session does with the device as a whole: pictures, alerts, keyboard, rotation, place, apps. */

const {errors} = require('appium/driver');
const {ElementsDriver} = require('./elements');
const {sleep, stroke} = require('./gestures');

const STATES = {notInstalled: 0, notRunning: 1, background: 3, foreground: 4};

class DeviceDriver extends ElementsDriver {
  /** The state of an app that is not installed. */
  get absent() {
    return STATES.notInstalled;
  }

  async getScreenshot() {
    return this.screen.screenshot();
  }

  async performActions(sources) {
    const scaled = sources.map((source) => ({
      ...source,
      actions: source.actions.map((action) => ({
        ...action, ...(action.x === undefined ? {} : {x: this.toPoints(action.x)}), ...(action.y === undefined ? {} : {y: this.toPoints(action.y)}),
      })),
    }));
    await this.fingers.perform(scaled, (origin) => this.middle(origin));
  }

  async releaseActions() {
    await this.fingers.release();
  }

  async getWindowRect() {
    const {width, height} = this.screen.size;
    return {x: 0, y: 0, width: this.fromPoints(width), height: this.fromPoints(height)};
  }

  async getOrientation() {
    return this.screen.orientation;
  }

  async setOrientation(orientation) {
    const wanted = String(orientation).toUpperCase();
    if (!['PORTRAIT', 'LANDSCAPE'].includes(wanted)) {
      throw new errors.InvalidArgumentError(`Orientation '${orientation}' is neither PORTRAIT nor LANDSCAPE`);
    }
    await this.screen.setOrientation(wanted);
  }

  // Alerts

  async getAlertText() {
    return this.alerts.text();
  }

  async setAlertText(text) {
    await this.alerts.setText(text);
  }

  async postAcceptAlert() {
    await this.alerts.accept();
    await this.screen.sync();
  }

  async postDismissAlert() {
    await this.alerts.dismiss();
    await this.screen.sync();
  }

  // Keyboard

  async isKeyboardShown() {
    await this.screen.sync();
    return this.screen.keyboard > 0;
  }

  // Place

  async setGeoLocation({latitude, longitude, altitude = 0}) {
    await this.screen.setLocation({latitude: Number(latitude), longitude: Number(longitude), altitude: Number(altitude)});
    return this.screen.location;
  }

  async mobileSetLocation(latitude, longitude, altitude) {
    await this.setGeoLocation({latitude, longitude, altitude});
  }

  async getGeoLocation() {
    if (!this.screen.location) throw new errors.UnknownError('No location was set on this device');
    return this.screen.location;
  }

  async resetGeoLocation() {
    await this.screen.setLocation(undefined);
  }

  // Apps

  async activateApp(id) {
    await this.screen.activate(this._installedApp(id));
  }

  async terminateApp(id) {
    return this.screen.terminate(id);
  }

  async queryAppState(id) {
    if (!this.installed.has(id)) return this.absent;
    if (!this.screen.running.has(id)) return STATES.notRunning;
    return this.screen.front === id && !this.screen.locked ? STATES.foreground : STATES.background;
  }

  async installApp(path) {
    await this._install(path);
    await this.screen.sync();
  }

  async removeApp(id) {
    const app = this.installed.get(id);
    if (!app) return false;
    if (app.system) throw new errors.InvalidArgumentError(`'${id}' belongs to the system and cannot be removed`);
    await this.screen.terminate(id);
    await this.screen.forget(app);
    this.installed.delete(id);
    await this.screen.refresh();
    return true;
  }

  async isAppInstalled(id) {
    return this.installed.has(id);
  }

  async background(seconds = -1) {
    const {front} = this.screen;
    await this.screen.goHome();
    if (seconds < 0 || !front) return true;
    await sleep(seconds * 1000);
    await this.screen.activate(this._installedApp(front));
    return true;
  }

  /** Open a link in the app that its scheme belongs to. */
  async openLink(url, id = undefined) {
    const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1].toLowerCase();
    const app = id ? this._installedApp(id) : [...this.installed.values()].find(({schemes}) => schemes.includes(scheme));
    if (!app || !app.schemes.includes(scheme)) {
      throw new errors.InvalidArgumentError(`No app ${id ? `'${id}' ` : ''}on this device opens '${url}'`);
    }
    const place = JSON.stringify(`#${url}`);
    if (!this.screen.running.has(app.id)) return this.screen.activate(app, `${app.url}#${url}`);
    await this.screen.activate(app);
    // Opening the same link twice is two openings.
    await this.screen.app.page.evaluate(`history.replaceState(history.state, '', '#'), location.hash = ${place}, undefined`);
    return this.screen.sync();
  }

  async setUrl(url) {
    await this.openLink(url);
  }

  // Lock

  async lock(seconds = 0) {
    await this.screen.setLocked(true);
    if (!seconds) return;
    await sleep(seconds * 1000);
    await this.screen.setLocked(false);
  }

  async unlock() {
    await this.screen.setLocked(false);
  }

  async isLocked() {
    return this.screen.locked;
  }

  // Clipboard, in base64 as it travels

  async setClipboard(content, contentType = 'plaintext') {
    this._plaintext(contentType);
    this.clipboard = content;
  }

  async getClipboard(contentType = 'plaintext') {
    this._plaintext(contentType);
    return this.clipboard;
  }

  _plaintext(contentType) {
    if (contentType.toLowerCase() !== 'plaintext') throw new errors.InvalidArgumentError(`The clipboard holds plaintext, not '${contentType}'`);
  }

  async deviceTime() {
    return new Date().toISOString();
  }

  // Gestures that both platforms have under names of their own

  /** The rect in points that a gesture is about: an element's, or all that the app has. */
  async area(elementId) {
    if (elementId) return this.pointsOf(await this.node(elementId));
    return {...this.screen.fullRect, height: this.screen.size.height - this.screen.keyboard};
  }

  /** A point in points: of the screen, in an element, or an element's middle. */
  async point(x, y, elementId) {
    const given = x !== undefined && y !== undefined;
    if (!given && !elementId) throw new errors.InvalidArgumentError('Either an element or both x and y are needed');
    if (!given) return this.middle(elementId);
    const corner = elementId ? await this.area(elementId) : {x: 0, y: 0};
    return {x: corner.x + this.toPoints(x), y: corner.y + this.toPoints(y)};
  }

  async stroke(area, direction, share, {duration, rest = 0}) {
    const [from, to] = stroke(area, direction, share);
    await this.fingers.drag(from, to, {duration, rest});
  }
}

module.exports = {DeviceDriver, STATES};
