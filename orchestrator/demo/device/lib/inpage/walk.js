'use strict';

/** Runs in an isolated world of every page of the device: reads the document as an accessibility service would. */

globalThis.sim = (() => {
  // A document's own prefix: an id can never mean an element of the document that follows.
  const prefix = Math.random().toString(36).slice(2, 10);
  const ids = new WeakMap();
  const known = new Map();
  let count = 0;

  const idOf = (element) => {
    if (!ids.has(element)) {
      count += 1;
      const id = `${prefix}-${count}`;
      ids.set(element, id);
      known.set(id, new WeakRef(element));
    }
    return ids.get(element);
  };

  const byId = (id) => {
    const element = known.get(id)?.deref();
    if (!element?.isConnected) throw new Error('The element is gone');
    return element;
  };

  const TEXT_INPUTS = new Set(['text', 'email', 'tel', 'url', 'number', '']);
  const INPUTS = {
    search: 'search', password: 'password', checkbox: 'checkbox', radio: 'radio', range: 'slider', submit: 'button',
    button: 'button', reset: 'button', image: 'button', file: 'button', date: 'date', time: 'date', 'datetime-local': 'date',
    month: 'date', week: 'date', color: 'button',
  };
  const ROLES = {
    alertdialog: 'alert', button: 'button', checkbox: 'checkbox', dialog: 'dialog', heading: 'heading', img: 'image',
    link: 'link', list: 'list', listbox: 'list', listitem: 'cell', menuitem: 'button', navigation: 'tabbar',
    option: 'cell', progressbar: 'progress', radio: 'radio', row: 'cell', searchbox: 'search', slider: 'slider',
    switch: 'switch', tab: 'tab', table: 'list', tablist: 'tabbar', textbox: 'textfield', banner: 'nav',
    keyboard: 'keyboard', key: 'key',
  };
  const TAGS = {
    a: 'link', button: 'button', dialog: 'dialog', h1: 'heading', h2: 'heading', h3: 'heading', h4: 'heading',
    header: 'nav', img: 'image', li: 'cell', nav: 'tabbar', ol: 'list', progress: 'progress', select: 'picker',
    table: 'list', textarea: 'textarea', tr: 'cell', ul: 'list', canvas: 'image', video: 'image', iframe: 'frame',
  };
  const LEAVES = new Set(['button', 'checkbox', 'date', 'heading', 'image', 'key', 'link', 'password', 'picker', 'progress', 'radio',
    'search', 'slider', 'switch', 'tab', 'textarea', 'textfield', 'webview']);
  const SKIPPED = new Set(['script', 'style', 'template', 'head', 'noscript', 'option', 'source', 'br', 'meta', 'link']);

  const kindOf = (element) => {
    const tag = element.localName;
    if (element.hasAttribute('data-webview')) return 'webview';
    const role = ROLES[element.getAttribute('role')];
    if (role) return role;
    if (tag === 'input') {
      return TEXT_INPUTS.has(element.type) ? 'textfield' : (INPUTS[element.type] ?? 'textfield');
    }
    if (tag === 'a' && !element.hasAttribute('href')) return undefined;
    if (tag === 'svg') return element.hasAttribute('aria-label') ? 'image' : undefined;
    if (element.isContentEditable && element.parentElement && !element.parentElement.isContentEditable) return 'textarea';
    return TAGS[tag];
  };

  const clean = (text) => (text ?? '').replace(/\s+/g, ' ').trim();

  const labelOf = (element, kind) => {
    const aria = element.getAttribute('aria-label');
    if (aria) return aria;
    const by = element.getAttribute('aria-labelledby');
    if (by) return clean(by.split(/\s+/).map((id) => element.getRootNode().getElementById(id)?.innerText).join(' '));
    if (element.labels?.length) return clean([...element.labels].map((label) => label.innerText).join(' '));
    if (element.alt) return element.alt;
    if (element.localName === 'input') return INPUTS[element.type] === 'button' ? element.value : (element.title ?? '');
    if (LEAVES.has(kind) && !['picker', 'textarea', 'webview'].includes(kind)) return clean(element.innerText) || element.title || '';
    return element.title || '';
  };

  const valueOf = (element, kind) => {
    if (kind === 'picker') return clean(element.selectedOptions?.[0]?.textContent);
    if (element.isContentEditable) return element.innerText;
    if (['textfield', 'search', 'password', 'textarea', 'slider', 'date'].includes(kind)) {
      return element.value ?? element.getAttribute('aria-valuenow') ?? '';
    }
    if (kind === 'progress') return element.getAttribute('value') ?? element.getAttribute('aria-valuenow') ?? '';
    return undefined;
  };

  const rectOf = (rect, at) => ({x: rect.x + at.x, y: rect.y + at.y, width: rect.width, height: rect.height});

  const cut = (a, b) => {
    const x = Math.max(a.x, b.x);
    const y = Math.max(a.y, b.y);
    return {
      x, y,
      width: Math.max(0, Math.min(a.x + a.width, b.x + b.width) - x),
      height: Math.max(0, Math.min(a.y + a.height, b.y + b.height) - y),
    };
  };

  const scrollable = (element, style) => /auto|scroll/.test(style.overflowY + style.overflowX)
    && (element.scrollHeight > element.clientHeight + 1 || element.scrollWidth > element.clientWidth + 1);

  const shown = (element, style) => style.display !== 'none' && style.visibility !== 'hidden'
    && !element.hasAttribute('inert') && element.getAttribute('aria-hidden') !== 'true';

  // The cursor is inherited: only where it begins somebody listens.
  const pointed = (element, style) => style.cursor === 'pointer'
    && !(element.parentElement && getComputedStyle(element.parentElement).cursor === 'pointer');

  const describe = (element, kind, style, rect, clip) => {
    const seen = cut(rect, clip);
    const disabled = element.matches(':disabled, [aria-disabled="true"], :disabled *');
    const checked = element.checked ?? (element.hasAttribute('aria-checked') ? element.getAttribute('aria-checked') === 'true' : undefined);
    return {
      id: idOf(element), kind, rect, seen,
      testid: element.getAttribute('data-testid') ?? '', htmlId: element.id, aria: element.getAttribute('aria-label') ?? '',
      resource: element.getAttribute('data-resource') ?? '', label: labelOf(element, kind), value: valueOf(element, kind),
      placeholder: element.getAttribute('placeholder') ?? '', disabled, checked,
      selected: element.getAttribute('aria-selected') === 'true' || element.getAttribute('aria-current') === 'page',
      focused: element.getRootNode().activeElement === element,
      clickable: !disabled && (LEAVES.has(kind) && !['heading', 'image', 'progress', 'webview'].includes(kind) || pointed(element, style)),
      scrollable: scrollable(element, style), min: Number(element.min || element.getAttribute('aria-valuemin') || 0),
      max: Number(element.max || element.getAttribute('aria-valuemax') || 100), visible: seen.width >= 1 && seen.height >= 1,
      text: '', children: [],
    };
  };

  const textNode = (node, text, rect, clip) => {
    const seen = cut(rect, clip);
    return {
      id: idOf(node), kind: 'text', rect, seen, testid: '', htmlId: '', aria: '', resource: '', label: text, text,
      visible: seen.width >= 1 && seen.height >= 1, placeholder: '', children: [],
    };
  };

  const childrenOf = (element) => {
    if (element.localName === 'slot' && element.assignedNodes().length) return element.assignedNodes();
    return (element.shadowRoot ?? element).childNodes;
  };

  const textRect = (node, at) => {
    const range = node.ownerDocument.createRange();
    range.selectNodeContents(node);
    return rectOf(range.getBoundingClientRect(), at);
  };

  const inFrame = (element, at, clip) => {
    const inner = element.contentDocument?.body;
    if (!inner) return [];
    const box = element.getBoundingClientRect();
    const offset = {x: at.x + box.x + element.clientLeft, y: at.y + box.y + element.clientTop};
    return walk(inner, offset, cut(rectOf(box, at), clip));
  };

  // What one element becomes: none, one node, or the nodes inside it.
  const walk = (element, at, clip) => {
    if (SKIPPED.has(element.localName)) return [];
    const style = element.ownerDocument.defaultView.getComputedStyle(element);
    if (!shown(element, style)) return [];
    const kind = kindOf(element);
    if (kind === 'frame') return inFrame(element, at, clip);
    const rect = rectOf(element.getBoundingClientRect(), at);
    const node = describe(element, kind ?? 'group', style, rect, clip);
    if (LEAVES.has(kind)) {
      node.text = ['heading', 'link', 'button', 'tab', 'key'].includes(kind) ? clean(element.innerText) || node.label : '';
      return rect.width && rect.height ? [node] : [];
    }
    const clipped = style.overflowX !== 'visible' || style.overflowY !== 'visible';
    const inner = clipped && element !== element.ownerDocument.body ? cut(rect, clip) : clip;
    const texts = [];
    for (const child of childrenOf(element)) {
      if (child.nodeType === 1) node.children.push(...walk(child, at, inner));
      else if (child.nodeType === 3 && clean(child.data)) {
        const text = textNode(child, clean(child.data), textRect(child, at), inner);
        node.children.push(text);
        texts.push(text);
      }
    }
    return settle(element, node, kind, texts);
  };

  const settle = (element, node, kind, texts) => {
    const named = node.testid || node.htmlId || node.aria || node.scrollable || node.clickable;
    const inline = texts.length > 0 && node.children.every((child) => child.kind === 'text' && !child.testid && !child.htmlId && !child.aria);
    if (!kind && inline) {
      // A run of text is one text, whatever is bold in it.
      return [{...node, kind: 'text', children: [], text: clean(element.innerText), label: node.aria || clean(element.innerText)}];
    }
    if (!kind && !named) return node.children;
    if (kind || node.children.length || (node.rect.width && node.rect.height)) return [node];
    return [];
  };

  const tree = () => {
    const body = document.body;
    if (!body) return [];
    const clip = {x: 0, y: 0, width: innerWidth, height: innerHeight};
    const modal = document.querySelector('dialog:modal');
    return modal ? walk(modal, {x: 0, y: 0}, clip) : [...body.childNodes].flatMap((child) => {
      if (child.nodeType === 1) return walk(child, {x: 0, y: 0}, clip);
      return child.nodeType === 3 && clean(child.data) ? [textNode(child, clean(child.data), textRect(child, {x: 0, y: 0}), clip)] : [];
    });
  };

  return {byId, clean, idOf, kindOf, tree, valueOf};
})();
