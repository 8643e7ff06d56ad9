'use strict';

/** Fingers on the screen: W3C actions and the gestures made of them. All lengths are points, all times milliseconds. */

const {errors} = require('appium/driver');
const {DialogOpened} = require('./page');

const FRAME = 16;
const MODIFIERS = {Alt: 1, Control: 2, Meta: 4, Shift: 8};
/** Keys of W3C actions that are no characters. */
const KEYS = {
  '\uE003': ['Backspace', 8], '\uE004': ['Tab', 9], '\uE006': ['Enter', 13, '\r'], '\uE007': ['Enter', 13, '\r'], '\uE00C': ['Escape', 27],
  '\uE012': ['ArrowLeft', 37], '\uE013': ['ArrowUp', 38], '\uE014': ['ArrowRight', 39], '\uE015': ['ArrowDown', 40],
  '\uE008': ['Shift', 16], '\uE009': ['Control', 17], '\uE00A': ['Alt', 18], '\uE03D': ['Meta', 91], '\uE017': ['Delete', 46],
};

/** Letters, digits and the space have their own codes as keys; other characters' codes are those of arrows and the like. */
const keyCode = (value) => (/^[a-z0-9 ]$/i.test(value) ? value.toUpperCase().charCodeAt(0) : 0);

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** The fingers of one session: where they are, and which of them touch. */
class Fingers {
  /** @param {function} inUnits - what a length in points is in the client's units. */
  constructor(screen, inUnits) {
    this.screen = screen;
    this.inUnits = inUnits;
    this.at = new Map();
    this.down = new Map();
    this.modifiers = 0;
  }

  /** Perform W3C action sources; `place(origin)` answers the point in the middle of an element. */
  async perform(sources, place) {
    this.glided = false;
    const ticks = Math.max(0, ...sources.map(({actions}) => actions.length));
    try {
      for (let tick = 0; tick < ticks; tick += 1) {
        await this._tick(sources.filter(({actions}) => actions[tick]).map((source) => [source, source.actions[tick]]), place);
      }
    } catch (error) {
      // A dialog that a touch opens takes the touch away, as on a phone.
      if (!(error instanceof DialogOpened)) throw error;
      this.down.clear();
    }
    await this._rest();
  }

  async release() {
    const fingers = [...this.down.keys()];
    for (const id of fingers) await this._up(id);
  }

  async tap(point, count = 1) {
    const actions = [{type: 'pointerMove', ...point}];
    for (let tap = 0; tap < count; tap += 1) {
      if (tap > 0) actions.push({type: 'pause', duration: 60});
      actions.push({type: 'pointerDown'}, {type: 'pause', duration: 30}, {type: 'pointerUp'});
    }
    await this.perform([finger('tap', actions)]);
  }

  async hold(point, duration) {
    await this.perform([finger('hold', [
      {type: 'pointerMove', ...point}, {type: 'pointerDown'}, {type: 'pause', duration}, {type: 'pointerUp'},
    ])]);
  }

  /** `pause` before moving lifts what is dragged; `rest` at the end takes the momentum away. */
  async drag(from, to, {duration, pause = 0, rest = 0}) {
    await this.perform([finger('drag', [
      {type: 'pointerMove', ...from}, {type: 'pointerDown'}, {type: 'pause', duration: pause},
      {type: 'pointerMove', ...to, duration}, {type: 'pause', duration: rest}, {type: 'pointerUp'},
    ])]);
  }

  /** Two fingers about the middle of a rect; `from` and `to` are their distances to it. */
  async pinch({x, y, width, height}, from, to, duration) {
    const [mx, my] = [x + width / 2, y + height / 2];
    const one = (id, sign) => finger(id, [
      {type: 'pointerMove', x: mx + sign * from, y: my}, {type: 'pointerDown'},
      {type: 'pointerMove', x: mx + sign * to, y: my, duration}, {type: 'pointerUp'},
    ]);
    await this.perform([one('left', -1), one('right', 1)]);
  }

  async _tick(actions, place) {
    const moves = [];
    let length = 0;
    for (const [source, action] of actions) {
      const id = source.id ?? source.type;
      length = Math.max(length, action.duration ?? 0);
      if (source.type === 'wheel') throw new errors.InvalidArgumentError('A phone has no wheel');
      if (action.type === 'pointerMove') moves.push({id, from: this._where(id), to: await this._target(id, action, place)});
      else if (action.type === 'pointerDown') await this._down(id);
      else if (action.type === 'pointerUp') await this._up(id);
      else if (action.type === 'pointerCancel') await this._up(id, 'touchCancel');
      else if (action.type === 'keyDown' || action.type === 'keyUp') await this._key(action);
      else if (action.type !== 'pause') throw new errors.InvalidArgumentError(`Unknown action '${action.type}'`);
    }
    await this._glide(moves, length);
  }

  async _glide(moves, length) {
    const begun = Date.now();
    const touching = moves.filter(({id}) => this.down.has(id));
    this.glided ||= touching.length > 0;
    for (let passed = FRAME; touching.length && passed < length; passed = Date.now() - begun) {
      for (const {id, from, to} of touching) {
        const share = Math.min(1, passed / length);
        this.at.set(id, {x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share});
      }
      await this._move();
      await sleep(Math.max(0, FRAME - ((Date.now() - begun) % FRAME)));
    }
    for (const {id, to} of moves) this.at.set(id, to);
    if (touching.length) await this._move();
    const left = length - (Date.now() - begun);
    if (left > 0) await sleep(left);
  }

  _where(id) {
    return this.at.get(id) ?? {x: 0, y: 0};
  }

  async _target(id, {x = 0, y = 0, origin = 'viewport'}, place) {
    if (origin === 'viewport') return this._onScreen({x, y});
    const base = origin === 'pointer' ? this._where(id) : await place(origin);
    return this._onScreen({x: base.x + x, y: base.y + y});
  }

  _onScreen(point) {
    const {width, height} = this.screen.size;
    if (point.x >= 0 && point.y >= 0 && point.x <= width && point.y <= height) return point;
    const [x, y, across, down] = [point.x, point.y, width, height].map(this.inUnits);
    throw new errors.MoveTargetOutOfBoundsError(`(${x}, ${y}) is not on the screen of ${across} by ${down}`);
  }

  async _down(id) {
    // All fingers of one gesture belong to the page that the first one touched.
    const {page, at} = this.down.size ? [...this.down.values()][0] : this.screen.pageAt(this._where(id));
    this.down.set(id, {page, at, number: this.down.size});
    this.screen.touched(page);
    await page.send('Input.dispatchTouchEvent', {type: 'touchStart', touchPoints: this._points()});
  }

  async _move() {
    const [{page}] = this.down.values();
    await page.send('Input.dispatchTouchEvent', {type: 'touchMove', touchPoints: this._points()});
  }

  async _up(id, type = 'touchEnd') {
    const finger = this.down.get(id);
    if (!finger) return;
    this.down.delete(id);
    await finger.page.send('Input.dispatchTouchEvent', {type, touchPoints: type === 'touchEnd' ? this._points() : []});
  }

  _points() {
    return [...this.down].map(([id, {at, number}]) => {
      const {x, y} = this._where(id);
      return {x: x - at.x, y: y - at.y, id: number, radiusX: 8, radiusY: 8};
    });
  }

  async _key({type, value}) {
    const [key, code, text] = KEYS[value] ?? [value, keyCode(value), value];
    if (MODIFIERS[key]) this.modifiers = type === 'keyDown' ? this.modifiers | MODIFIERS[key] : this.modifiers & ~MODIFIERS[key];
    const page = this.screen.typing;
    const plain = text && !(this.modifiers & ~MODIFIERS.Shift);
    await page.send('Input.dispatchKeyEvent', {
      type: type === 'keyUp' ? 'keyUp' : (plain ? 'keyDown' : 'rawKeyDown'), key, modifiers: this.modifiers,
      windowsVirtualKeyCode: code, text: type === 'keyDown' && plain ? text : undefined,
      commands: type === 'keyDown' && this.modifiers === MODIFIERS.Control && value === 'a' ? ['selectAll'] : undefined,
    });
  }

  // What scrolls on after the fingers are gone comes to rest; then the screen gives the app what it wants.
  async _rest() {
    const {app} = this.screen;
    if (app && !this.screen.alerts.current && !this.down.size) {
      await Promise.all([app, ...app.webviews].map(({page}) => page.call('rest', this.glided ? 90 : 25).catch(() => {})));
    }
    await this.screen.sync();
  }
}

const finger = (id, actions) => ({id, type: 'pointer', actions});

/** From where to where a finger goes across a rect: `share` of its length, about its middle. */
function stroke({x, y, width, height}, direction, share) {
  const [mx, my] = [x + width / 2, y + height / 2];
  // The very edge may belong to a neighbour.
  const [dx, dy] = [Math.min(width * share, width - 4) / 2, Math.min(height * share, height - 4) / 2];
  const ends = {
    up: [{x: mx, y: my + dy}, {x: mx, y: my - dy}], down: [{x: mx, y: my - dy}, {x: mx, y: my + dy}],
    left: [{x: mx + dx, y: my}, {x: mx - dx, y: my}], right: [{x: mx - dx, y: my}, {x: mx + dx, y: my}],
  }[String(direction).toLowerCase()];
  if (!ends) throw new errors.InvalidArgumentError(`Direction '${direction}' is none of up, down, left, right`);
  return ends;
}

module.exports = {Fingers, KEYS, sleep, stroke};
