'use strict';

/** What the system lays over the app and wants answered: dialogs of pages, permissions, alerts of a fault switch. */

const {errors} = require('appium/driver');

const WORDS = {
  camera: ['Access the Camera', 'take pictures and record video'],
  location: ['Use Your Location', 'access this device’s location'],
  microphone: ['Access the Microphone', 'record audio'],
  notifications: ['Send You Notifications', 'send you notifications'],
};

/** The alerts in the order in which they came; the first is the one on the screen. */
class Alerts {
  /**
   * @param {object} options - `platform`, `policy` accept, dismiss or none, `grant` all permissions,
   *   `changed` is told, `typed` answers what stands in the alert's text field.
   */
  constructor({platform, policy, grant, changed, typed}) {
    Object.assign(this, {platform, policy, grant, changed, typed});
    this.open = [];
    this.granted = new Map();
  }

  get current() {
    return this.open[0];
  }

  /** What of the current one is shown. */
  get shown() {
    if (!this.current) return undefined;
    const {title, heading, message, input, resource, buttons} = this.current;
    return {title, heading, message, input, resource, buttons: buttons.map(({label, resource: id}) => ({label, resource: id}))};
  }

  /** A page's own dialog, which holds the page up until it is answered. */
  dialog(page, {type, message, defaultPrompt}) {
    const ok = {label: 'OK', resource: 'android:id/button1', act: (text) => page.answerDialog(true, text)};
    const cancel = {label: 'Cancel', resource: 'android:id/button2', act: () => page.answerDialog(false)};
    const alone = type === 'alert';
    this._add({
      title: message, page, input: type === 'prompt' ? (defaultPrompt ?? '') : undefined,
      buttons: alone ? [ok] : [cancel, ok], accept: alone ? 0 : 1, dismiss: 0,
    });
  }

  /** An app asks for a permission; granted ones are not asked for twice. */
  permission(app, page, {permission, id}) {
    const key = `${app.id} ${permission}`;
    const answer = async (granted) => {
      this.granted.set(key, granted);
      if (granted && permission === 'location') {
        await page.chromium.send('Browser.grantPermissions', {origin: app.origin, permissions: ['geolocation']});
      }
      await page.evaluate(`__simAnswer(${id}, ${granted})`);
    };
    if (this.granted.has(key) || this.grant) {
      answer(this.granted.get(key) ?? true).catch(() => {});
      return;
    }
    this._add(this._question(app, permission, answer, page));
  }

  /** An alert of nobody's, as a fault switch wants it. */
  plain(title) {
    this._add({title, buttons: [{label: 'OK', resource: 'android:id/button1', act: async () => {}}], accept: 0, dismiss: 0});
  }

  text() {
    const {title, message} = this._needed();
    return message ? `${title}\n${message}` : title;
  }

  setText(text) {
    const alert = this._needed();
    if (alert.input === undefined) throw new errors.ElementNotInteractableError('The open alert has no text field');
    alert.input = text;
    return this.changed();
  }

  accept(label = undefined) {
    const alert = this._needed();
    return this.press(label === undefined ? alert.accept : this._labelled(alert, label));
  }

  dismiss(label = undefined) {
    const alert = this._needed();
    return this.press(label === undefined ? alert.dismiss : this._labelled(alert, label));
  }

  /** One of its buttons was pressed. */
  async press(index) {
    const alert = this._needed();
    const text = alert.input === undefined ? undefined : await this.typed();
    this.open.shift();
    await alert.buttons[index].act(text);
    await this.changed();
  }

  /** A page's dialog was closed, by us or by chromedriver. */
  closed(page) {
    this._keep((alert) => alert.page !== page || alert.permission);
  }

  /** The page went away, and with it what it asked. */
  dropOf(page) {
    this._keep((alert) => alert.page !== page);
  }

  /** The app was removed, and with it what it may do. */
  forget(app) {
    for (const key of [...this.granted.keys()]) if (key.startsWith(`${app.id} `)) this.granted.delete(key);
  }

  _keep(test) {
    const left = this.open.filter(test);
    if (left.length === this.open.length) return;
    this.open = left;
    this.changed().catch(() => {});
  }

  _question(app, permission, answer, page) {
    const [wish, action] = WORDS[permission];
    if (this.platform === 'iOS') {
      const buttons = permission === 'location'
        ? [['Allow Once', true], ['Allow While Using App', true], ['Don’t Allow', false]]
        : [['Don’t Allow', false], ['Allow', true]];
      return {
        title: `“${app.name}” Would Like to ${wish}`, page, permission,
        buttons: buttons.map(([label, granted]) => ({label, act: () => answer(granted)})), accept: 1, dismiss: permission === 'location' ? 2 : 0,
      };
    }
    const id = (name) => `com.android.permissioncontroller:id/${name}`;
    return {
      title: `Allow ${app.name} to ${action}?`, page, permission, resource: id('permission_message'),
      buttons: [
        {label: 'While using the app', resource: id('permission_allow_foreground_only_button'), act: () => answer(true)},
        {label: 'Only this time', resource: id('permission_allow_one_time_button'), act: () => answer(true)},
        {label: 'Don’t allow', resource: id('permission_deny_button'), act: () => answer(false)},
      ],
      accept: 0, dismiss: 2,
    };
  }

  _add(alert) {
    this.open.push(alert);
    if (this.policy === 'accept') this.accept().catch(() => {});
    else if (this.policy === 'dismiss') this.dismiss().catch(() => {});
    else this.changed().catch(() => {});
  }

  _needed() {
    if (!this.current) throw new errors.NoAlertOpenError();
    return this.current;
  }

  _labelled(alert, label) {
    const index = alert.buttons.findIndex((button) => button.label === label);
    if (index >= 0) return index;
    const labels = alert.buttons.map((button) => `'${button.label}'`).join(', ');
    throw new errors.InvalidArgumentError(`The alert has no button '${label}'. It has ${labels}`);
  }
}

module.exports = {Alerts};
