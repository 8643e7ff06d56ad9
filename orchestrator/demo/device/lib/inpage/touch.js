'use strict';

/** Runs in the isolated world: a long press as phones do it, which Chromium's own touch emulation does not. */

(() => {
  const HOLD = 500;
  const SLOP = 10;
  let timer;
  let start;
  let held = false;

  const drop = () => clearTimeout(timer);

  const press = (touch, target) => {
    held = true;
    target.dispatchEvent(new PointerEvent('contextmenu', {
      bubbles: true, cancelable: true, composed: true, pointerType: 'touch', clientX: touch.clientX, clientY: touch.clientY,
      screenX: touch.screenX, screenY: touch.screenY, button: 0, view: window,
    }));
  };

  addEventListener('touchstart', (event) => {
    drop();
    held = false;
    if (event.touches.length !== 1) return;
    [start] = event.touches;
    const target = event.composedPath()[0];
    timer = setTimeout(press, HOLD, start, target);
  }, {capture: true, passive: true});

  addEventListener('touchmove', (event) => {
    const [now] = event.touches;
    if (Math.hypot(now.clientX - start.clientX, now.clientY - start.clientY) > SLOP) drop();
  }, {capture: true, passive: true});

  addEventListener('touchend', () => {
    drop();
    setTimeout(() => { held = false; }, 300);
  }, {capture: true, passive: true});
  addEventListener('touchcancel', drop, {capture: true, passive: true});

  // A choice is made by its value: Chromium's own list of options would lie over the page and take the next touch.
  addEventListener('mousedown', (event) => {
    if (event.isTrusted && event.composedPath()[0].localName === 'select') event.preventDefault();
  }, true);

  // After a long press the finger's leaving is no click, and Chromium would make one at once.
  for (const type of ['mousedown', 'mouseup', 'click', 'contextmenu']) {
    addEventListener(type, (event) => {
      if (!held || !event.isTrusted) return;
      event.preventDefault();
      event.stopImmediatePropagation();
    }, true);
  }
})();
