'use strict';

/** The gestures of UiAutomator2 by their own names; lengths arrive in pixels, speeds in pixels a second. */

const {errors} = require('appium/driver');
const {DeviceDriver} = require('./device');

const OPPOSITE = {up: 'down', down: 'up', left: 'right', right: 'left'};
const DEFAULT_SPEED = 5000;
const LONG_CLICK = 500;

class AndroidGestures extends DeviceDriver {
  async mobileClickGesture(elementId, x, y) {
    await this.fingers.tap(await this.point(x, y, elementId));
  }

  async mobileDoubleClickGesture(elementId, x, y) {
    await this.fingers.tap(await this.point(x, y, elementId), 2);
  }

  async mobileLongClickGesture(elementId, x, y, duration = LONG_CLICK) {
    // A hold of just the limit is one: the finger goes a moment later.
    await this.fingers.hold(await this.point(x, y, elementId), Number(duration) + 100);
  }

  async mobileDragGesture(endX, endY, elementId, startX, startY, speed = DEFAULT_SPEED) {
    const from = await this.point(startX, startY, elementId);
    const to = {x: this.toPoints(endX), y: this.toPoints(endY)};
    await this.fingers.drag(from, to, {pause: 650, duration: this._time(from, to, speed), rest: 100});
  }

  async mobileSwipeGesture(direction, percent, ...area) {
    return this._swipe(direction, direction, percent, area, 0);
  }

  async mobileFlingGesture(direction, ...area) {
    return this._swipe(direction, OPPOSITE[direction], 0.8, area, 0);
  }

  async mobileScrollGesture(direction, percent, ...area) {
    return this._swipe(direction, OPPOSITE[direction], percent, area, 120);
  }

  // Answers whether there is more to scroll to, by whether the source changed.
  async _swipe(direction, finger, percent, area, rest) {
    if (!OPPOSITE[direction]) throw new errors.InvalidArgumentError(`Direction '${direction}' is none of up, down, left, right`);
    if (!(percent > 0 && percent <= 1)) throw new errors.InvalidArgumentError(`The percent is between 0 and 1, not '${percent}'`);
    const before = await this.getPageSource();
    const speed = area[5] ?? DEFAULT_SPEED;
    const rect = await this._area(...area);
    const length = (['up', 'down'].includes(finger) ? rect.height : rect.width) * percent;
    await this.stroke(rect, finger, percent, {duration: Math.max(80, this.fromPoints(length) / speed * 1000), rest});
    return before !== await this.getPageSource();
  }

  async mobilePinchOpenGesture(percent, ...area) {
    const rect = await this._area(...area);
    await this.fingers.pinch(rect, 20, 20 + percent * (rect.width / 2 - 24), 400);
  }

  async mobilePinchCloseGesture(percent, ...area) {
    const rect = await this._area(...area);
    await this.fingers.pinch(rect, 20 + percent * (rect.width / 2 - 24), 20, 400);
  }

  async mobileScroll(strategy, selector, elementId, maxSwipes = 10) {
    for (let left = maxSwipes; ; left -= 1) {
      const found = await this._select(strategy, selector, undefined);
      if (found.length) return;
      if (left <= 0 || !await this.mobileScrollGesture('down', 0.7, elementId)) break;
    }
    throw new errors.NoSuchElementError(`No element was found by ${strategy} '${selector}' in ${maxSwipes} swipes`);
  }

  async _area(elementId, left, top, width, height) {
    if (elementId || left === undefined) return this.area(elementId);
    const given = {x: left, y: top, width, height};
    return Object.fromEntries(Object.entries(given).map(([name, length]) => [name, this.toPoints(length)]));
  }

  _time(from, to, speed) {
    return Math.max(100, this.fromPoints(Math.hypot(to.x - from.x, to.y - from.y)) / speed * 1000);
  }
}

module.exports = {AndroidGestures};
