'use strict';

/** What a session sees and finds on the screen, and does to one element. */

const {errors} = require('appium/driver');
const {util} = require('appium/support');
const {SimDriver} = require('./driver');
const {KEYS} = require('./gestures');
const {ElementGone} = require('./page');
const {pressKey} = require('./screen');
const xml = require('./xml');

const EDITABLE = new Set(['date', 'password', 'search', 'textarea', 'textfield']);

class ElementsDriver extends SimDriver {
  constructor(...args) {
    super(...args);
    this.targets = new Map();
  }

  // Seeing

  /** The tree of what is on the screen now. */
  async tree() {
    await this.screen.sync();
    return this.withScreen(async () => {
      const [{page, at, webviews = [], system}] = this.screen.surfaces((alert) => this.seesAlert(alert));
      const nodes = await page.call('tree');
      const inner = await Promise.all(webviews.map(async ({id, page: inside}) => ({id, page: inside, tree: await inside.call('tree')})));
      const context = {page, at, webviews: inner, scale: this.kind.scale};
      if (!system) return this.platformTree(nodes, context, await this._keyboard());
      const alert = nodes.filter(({kind}) => kind === 'alert');
      return this.platformTree(this.alerts.current && alert.length ? alert : nodes, context, []);
    });
  }

  /** Whether the source has an alert that is open. */
  seesAlert() {
    return true;
  }

  async _keyboard() {
    if (!this.screen.keyboard || this.platform.name !== 'iOS') return [];
    return (await this.screen.system.call('tree')).filter(({kind}) => kind === 'keyboard');
  }

  async getPageSource() {
    return xml.document(await this.tree());
  }

  // Finding

  async findElOrEls(strategy, selector, several, context) {
    const found = await this.implicitly(async () => {
      const nodes = await this._select(strategy, selector, context);
      return nodes.length ? nodes : undefined;
    });
    if (several) return (found ?? []).map((node) => this.reference(node));
    if (!found) throw new errors.NoSuchElementError(`No element was found by ${strategy} '${selector}'`);
    return this.reference(found[0]);
  }

  async _select(strategy, selector, context) {
    const root = await this.tree();
    const all = xml.flat(root);
    const from = context ? this._nodeIn(all, util.unwrapElement(context)) : root;
    if (strategy !== 'xpath') return this.platformSelect(strategy, selector, from, xml.flat(from).slice(1));
    const place = context ? all.indexOf(from) : undefined;
    const places = await this.screen.system.evaluate(
      `xpath(${JSON.stringify(xml.document(root))}, ${JSON.stringify(selector)}, ${place})`);
    if (places.invalid || places.includes(-1)) {
      throw new errors.InvalidSelectorError(`Invalid XPath '${selector}': ${places.invalid ?? 'it selects no elements'}`);
    }
    return places.map((at) => all[at]).filter((node) => node !== root);
  }

  reference(node) {
    const id = idOf(node);
    this.targets.set(id, node.target);
    return util.wrapElement(id);
  }

  _nodeIn(all, id) {
    const node = all.find((each) => idOf(each) === id);
    if (node) return node;
    if (!this.targets.has(id)) throw new errors.NoSuchElementError(`The element '${id}' was never found in this session`);
    throw new errors.StaleElementReferenceError(`The element '${id}' is not on the screen any more`);
  }

  /** The node that an element's id means now. */
  async node(id) {
    return this._nodeIn(xml.flat(await this.tree()), util.unwrapElement(id));
  }

  async active() {
    const {page} = this.screen.surfaces()[0];
    const id = await page.call('focusedId');
    const node = id && xml.flat(await this.tree()).find(({target}) => target?.id === id);
    if (!node) throw new errors.NoSuchElementError('No element has the focus');
    return this.reference(node);
  }

  // Acting

  /** The middle of an element, in points of the screen. */
  async middle(id) {
    const {x, y, width, height} = this.pointsOf(await this.node(id));
    return {x: x + width / 2, y: y + height / 2};
  }

  async click(id) {
    const node = await this.node(id);
    const {target, attributes} = node;
    let {x, y, width, height} = this.pointsOf(node);
    if (attributes.visible === false && target) {
      // XCUITest scrolls what is off the screen into view before it taps.
      const rect = await this._inPage(target, 'reveal');
      [x, y, width, height] = [rect.x + target.at.x, rect.y + target.at.y, rect.width, rect.height];
    }
    const edge = (value, limit) => Math.min(Math.max(value, 0), limit - 1);
    await this.fingers.tap({x: edge(x + width / 2, this.screen.size.width), y: edge(y + height / 2, this.screen.size.height)});
  }

  async setValue(text, id) {
    const {target, attributes} = await this.node(id);
    const wanted = Array.isArray(text) ? text.join('') : String(text);
    if (target?.kind === 'slider') return this._inPage(target, 'slide', this.sliderValue(wanted, await this._range(target)));
    if (target?.kind === 'picker') return this._pick(target, wanted);
    if (!EDITABLE.has(target?.kind) || attributes.enabled === false) {
      throw new errors.InvalidElementStateError(`Text cannot be typed into ${attributes.type ?? attributes.class} '${attributes.name ?? ''}'`);
    }
    if (target.kind === 'date') return this._inPage(target, 'slide', wanted);
    await this.focusForTyping(target, id);
    await this.type(target.page, wanted);
    return this.screen.sync();
  }

  /** Type into what has the focus. */
  async type(page, text) {
    for (const piece of text.match(/[\uE000-\uF8FF\n]|[^\uE000-\uF8FF\n]+/g) ?? []) {
      const [key, code, sent] = KEYS[piece === '\n' ? '\uE007' : piece] ?? [];
      if (key) await pressKey(page, key, code, sent);
      else await this.typePiece(page, piece);
    }
  }

  async clear(id) {
    const {target, attributes} = await this.node(id);
    if (!EDITABLE.has(target?.kind)) {
      throw new errors.InvalidElementStateError(`${attributes.type ?? attributes.class} cannot be cleared`);
    }
    await this._inPage(target, target.kind === 'date' ? 'slide' : 'empty', '');
    await this.screen.sync();
  }

  async _pick(target, wanted) {
    const choices = await this._inPage(target, 'pick', wanted);
    if (choices === true) return;
    throw new errors.InvalidArgumentError(`'${wanted}' is none of ${choices.map((each) => `'${each}'`).join(', ')}`);
  }

  async _range(target) {
    const [min, max] = await Promise.all(['min', 'max'].map((name) => this._inPage(target, 'property', name)));
    return {min: Number(min || 0), max: Number(max || 100)};
  }

  async _inPage(target, name, ...args) {
    try {
      return await target.page.call(name, target.id, ...args);
    } catch (error) {
      if (error instanceof ElementGone) throw new errors.StaleElementReferenceError('The element is not on the screen any more');
      throw error;
    }
  }

  // Asking

  async getText(id) {
    return this.textOf((await this.node(id)).attributes);
  }

  async getAttribute(name, id) {
    const node = await this.node(id);
    const value = this.attributeOf(node, name);
    return value === undefined || value === null ? null : String(value);
  }

  async getProperty(name, id) {
    return this.getAttribute(name, id);
  }

  async getName(id) {
    return (await this.node(id)).type;
  }

  async getElementRect(id) {
    return this.rectOf(await this.node(id));
  }

  async elementDisplayed(id) {
    const {visible, displayed} = (await this.node(id)).attributes;
    return Boolean(visible ?? displayed);
  }

  async elementEnabled(id) {
    return Boolean((await this.node(id)).attributes.enabled);
  }

  async elementSelected(id) {
    return Boolean((await this.node(id)).attributes.selected);
  }

  async getElementScreenshot(id) {
    return this.screen.screenshot(this.pointsOf(await this.node(id)));
  }
}

// What the platform adds around the app (windows, layouts) is no element of a page: its type names it.
const idOf = ({target, type}) => (target ? `${target.page.targetId.slice(0, 8)}-${target.id}` : `screen-${type}`);

module.exports = {ElementsDriver};
