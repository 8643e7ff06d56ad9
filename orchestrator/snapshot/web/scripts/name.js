// Computes accessible names by the parts of accname 1.2 that matter, with a limit on the work for each.
const NAME_NODES = 400;
const NAME_LENGTH = 1000;
const UNREAD = wordSet(`
  script style template noscript head title meta link datalist defs symbol clipPath mask pattern marker desc metadata`);

/** A name while it is gathered, until it is long enough. */
class Gathering {
  constructor(skip = null) {
    this.text = '';
    this.nodes = 0;
    this.skip = skip;
  }

  get full() {
    return this.nodes > NAME_NODES || this.text.length > NAME_LENGTH;
  }

  add(text) {
    this.text += text.length > NAME_LENGTH ? text.slice(0, NAME_LENGTH) : text;
  }
}

function gather(node, into) {
  if (into.full) return;
  into.nodes += 1;
  if (dom.type(node) === TEXT) into.add(dom.data(node));
  else if (dom.type(node) === ELEMENT && node !== into.skip && !UNREAD.has(dom.tag(node))) gatherElement(node, into);
}

function gatherElement(element, into) {
  if (flag(element, 'aria-hidden')) return;
  const style = styleOf(element);
  if (style.display === 'none' || style.visibility !== 'visible') return;
  const apart = style.display !== 'inline' && style.display !== 'contents';
  if (apart) into.add(' ');
  const label = attribute(element, 'aria-label');
  const own = label?.trim() ? label : replacedText(element);
  if (own === null) for (const child of innerNodes(element)) gather(child, into);
  else into.add(own);
  if (apart) into.add(' ');
}

/** The text that stands for an element without readable content; null for all other elements. */
function replacedText(element) {
  switch (dom.tag(element)) {
    case 'img': return attribute(element, 'alt') ?? '';
    case 'svg': return svgTitle(element) || (innerHasText(element) ? null : '');
    case 'br': return ' ';
    case 'input': return /^(button|submit|reset)$/.test(element.type) ? element.value : '';
    case 'select': case 'textarea': case 'iframe': case 'video': case 'audio': case 'canvas': return '';
    default: return null;
  }
}

const innerHasText = (svg) => queryAll(svg, 'text').length > 0;

function svgTitle(svg) {
  for (let node = dom.first(svg); node; node = dom.next(node)) {
    if (dom.type(node) === ELEMENT && dom.tag(node) === 'title') return normal(dom.textContent(node));
  }
  return '';
}

/** The only text inside an element; null if it contains anything else. */
function onlyText(element) {
  const first = dom.tag(element) === 'slot' ? null : dom.first(element);
  if (!first || dom.type(first) !== TEXT || dom.next(first) || dom.shadow(element)) return null;
  return dom.data(first);
}

/** The readable content of an element, even a hidden one, without that of `skip`. */
function contentText(element, skip = null) {
  const text = onlyText(element);
  if (text !== null) return normal(text.length > NAME_LENGTH ? text.slice(0, NAME_LENGTH) : text);
  const into = new Gathering(skip);
  for (const child of innerNodes(element)) gather(child, into);
  return normal(into.text);
}

/** A name that the author gave by ARIA or title, whatever the role. */
function authorName(element) {
  return ariaName(element) || normal(attribute(element, 'title') ?? '');
}

function ariaName(element) {
  if (!dom.hasAny(element)) return '';
  const ids = attribute(element, 'aria-labelledby');
  if (ids?.trim()) {
    const parts = ids.trim().split(/\s+/).slice(0, 20).map((id) => sibling(element, id)).filter(Boolean);
    const name = normal(parts.map((part) => referredText(part)).join(' '));
    if (name) return name;
  }
  return normal(attribute(element, 'aria-label') ?? '');
}

/** The text of an element that aria-labelledby refers to: it may be hidden, and its own references do not count. */
function referredText(element) {
  const label = normal(attribute(element, 'aria-label') ?? '');
  if (label) return label;
  const own = replacedText(element);
  if (own !== null) return own;
  return contentText(element) || normal(dom.textContent(element).slice(0, NAME_LENGTH));
}

let labelled = null;

/** The labels of a control. `element.labels` would search the whole page for each control; this searches once for all. */
function labelsOf(element) {
  if (!labelled) {
    labelled = new Map();
    soon(() => { labelled = null; });
  }
  const root = dom.root(element);
  if (!labelled.has(root)) labelled.set(root, labelsIn(root));
  return labelled.get(root).get(element) ?? [];
}

function labelsIn(root) {
  const found = new Map();
  for (const label of queryAll(root, 'label')) {
    const control = inHtml(label) ? label.control : null;
    if (!control) continue;
    if (!found.has(control)) found.set(control, []);
    found.get(control).push(label);
  }
  return found;
}

function labelText(element) {
  let text = '';
  for (const label of labelsOf(element)) text += ` ${contentText(label, element)}`;
  return normal(text);
}

/** The first child of the kind that captions its parent. */
function captionOf(element, tag) {
  for (let node = dom.first(element); node; node = dom.next(node)) {
    if (dom.type(node) === ELEMENT && dom.tag(node) === tag) return node;
  }
  return null;
}

const CAPTIONS = { fieldset: 'legend', table: 'caption', figure: 'figcaption' };

function nativeName(element) {
  const tag = dom.tag(element);
  switch (tag) {
    case 'input':
      if (/^(button|submit|reset)$/.test(element.type)) {
        return element.value || { submit: 'Submit', reset: 'Reset' }[element.type] || '';
      }
      return labelText(element) || (element.type === 'image' && (attribute(element, 'alt') || 'Submit')) || '';
    case 'button': case 'select': case 'textarea': case 'meter': case 'progress': case 'output':
      return labelText(element);
    case 'img': case 'area': return attribute(element, 'alt') ?? '';
    case 'option': return attribute(element, 'label') ?? '';
    case 'fieldset': case 'table': case 'figure': {
      const caption = captionOf(element, CAPTIONS[tag]);
      return caption ? contentText(caption) : '';
    }
    default: return inHtml(element) ? '' : svgTitle(element);
  }
}

/**
 * The accessible name; `role` is that of the line ('clickable' for a generic that reacts to clicks), `isNamed` is true
 * if its content is its name, undefined if that is unknown.
 */
function nameOf(element, role = roleOf(element), isNamed = undefined) {
  const given = ariaName(element) || normal(nativeName(element));
  if (given) return given;
  if (isNamed ?? isContentNamed(element, role)) {
    const content = contentText(element);
    if (content) return content;
  }
  if (!dom.hasAny(element)) return '';
  return normal(attribute(element, 'title') ?? '') || normal(attribute(element, 'placeholder') ?? '') ||
    normal(attribute(element, 'aria-placeholder') ?? '');
}
