'use strict';

/** Runs in the isolated world after walk.js: what commands do to one element, and what the page wants of the device. */

Object.assign(globalThis.sim, (() => {
  const {byId, idOf, kindOf} = globalThis.sim;
  const EDITABLE = new Set(['textfield', 'search', 'password', 'textarea']);
  let dismissed;

  const editable = (element) => Boolean(element) && !element.disabled && !element.readOnly
    && (element.isContentEditable || (['input', 'textarea'].includes(element.localName) && EDITABLE.has(kindOf(element))));

  const focused = () => {
    let active = document.activeElement;
    for (;;) {
      const inner = active?.shadowRoot?.activeElement ?? (active?.localName === 'iframe' ? active.contentDocument?.activeElement : undefined);
      if (!inner) return active;
      active = inner;
    }
  };

  const bounds = (node) => {
    if (node.nodeType === 1) return node.getBoundingClientRect();
    const range = node.ownerDocument.createRange();
    range.selectNodeContents(node);
    return range.getBoundingClientRect();
  };

  const box = (element) => {
    const rect = bounds(element);
    let {x, y} = rect;
    for (let view = element.ownerDocument.defaultView; view !== view.top; view = view.parent) {
      const frame = view.frameElement;
      const outer = frame.getBoundingClientRect();
      x += outer.x + frame.clientLeft;
      y += outer.y + frame.clientTop;
    }
    return {x, y, width: rect.width, height: rect.height};
  };

  const changed = (element) => {
    element.dispatchEvent(new Event('input', {bubbles: true, composed: true}));
    element.dispatchEvent(new Event('change', {bubbles: true}));
  };

  const caretToEnd = (element) => {
    if (element.isContentEditable) getSelection().selectAllChildren(element), getSelection().collapseToEnd();
    else if (element.setSelectionRange && !['email', 'number'].includes(element.type)) {
      element.setSelectionRange(element.value.length, element.value.length);
    }
  };

  addEventListener('focusin', () => { dismissed = undefined; }, true);
  addEventListener('touchend', (event) => { if (event.target === dismissed) dismissed = undefined; }, true);

  // Scrolling goes on after the finger is gone, until the browser says that it ended.
  let scrolled = 0;
  const moving = new Set();
  addEventListener('scroll', ({target}) => {
    scrolled = performance.now();
    moving.add(target);
  }, true);
  addEventListener('scrollend', ({target}) => { moving.delete(target); }, true);

  return {
    rect: (id) => box(byId(id)),
    reveal: (id) => {
      const node = byId(id);
      (node.nodeType === 1 ? node : node.parentElement).scrollIntoView({block: 'center', inline: 'nearest', behavior: 'instant'});
      return box(node);
    },
    exists: (id) => Boolean(byId(id)),
    focusedId: () => {
      const element = focused();
      return element && element !== document.body ? idOf(element) : null;
    },
    isEditable: (id) => editable(byId(id)),
    focus: (id) => {
      const element = byId(id);
      if (focused() !== element) element.focus();
      caretToEnd(element);
    },
    type: (text) => document.execCommand('insertText', false, text),
    empty: (id) => {
      const element = byId(id);
      element.focus();
      if (element.isContentEditable) getSelection().selectAllChildren(element);
      else element.select();
      document.execCommand('delete');
    },
    slide: (id, value) => {
      const element = byId(id);
      element.value = String(value);
      changed(element);
    },
    pick: (id, text) => {
      const element = byId(id);
      const option = [...element.options].find((each) => each.textContent.trim() === text);
      if (!option) return [...element.options].map((each) => each.textContent.trim());
      element.value = option.value;
      changed(element);
      return true;
    },
    property: (id, name) => byId(id)[name] ?? null,
    blur: () => focused()?.blur(),
    dismissKeyboard: () => { dismissed = focused(); },
    canGoBack: () => globalThis.navigation?.canGoBack ?? history.length > 1,
    // What the page wants the device to show besides itself.
    wants: () => ({
      keyboard: document.hasFocus() && editable(focused()) && focused() !== dismissed,
      keyboardType: focused()?.type ?? '',
      webviews: [...document.querySelectorAll('[data-webview]')].map((element) => ({
        id: idOf(element), src: element.getAttribute('data-webview'), rect: box(element),
        shown: element.checkVisibility({visibilityProperty: true}),
      })).filter(({shown, rect}) => shown && rect.width > 0 && rect.height > 0),
    }),
    revealFocused: () => { if (editable(focused())) focused().scrollIntoView({block: 'nearest', behavior: 'instant'}); },
    rest: (quiet) => new Promise((resolve) => {
      const begun = performance.now();
      const look = () => {
        const now = performance.now();
        if ((now - Math.max(scrolled, begun) > quiet && moving.size === 0) || now - begun > 3000) resolve(moving.clear());
        else setTimeout(look, 15);
      };
      look();
    }),
  };
})());
