// Computes accessible names by the parts of accname 1.2 that matter, with a limit on the work for each.
const NAME_NODES = 400;
const NAME_LENGTH = 1000;
const UNREAD = wordSet(`
  script style template noscript head title meta link datalist defs symbol clipPath mask pattern marker desc metadata`);

/** A name while it is gathered, until it is long enough. */
class Gathering {
  /** `skip` is the control that is named: neither it nor its value is part of its own label. */
  constructor(skip = null) {
    this.text = '';
    this.nodes = 0;
    this.skip = skip;
    this.seen = new Set();
    this.follows = true;
    this.hidden = false;
    this.isItem = false;
  }

  get full() {
    return this.nodes > NAME_NODES || this.text.length > NAME_LENGTH;
  }

  add(text) {
    this.text += text.length > NAME_LENGTH ? text.slice(0, NAME_LENGTH) : text;
  }
}

/** Adds a node; with `shows` false only what is visible again inside it. */
function gather(node, into, shows = true) {
  if (into.full) return;
  into.nodes += 1;
  if (dom.type(node) === TEXT) {
    if (shows) into.add(dom.data(node));
  } else if (node === into.skip || (into.isItem && isNestedItem(node))) {
    into.add(' ');
  } else if (dom.type(node) === ELEMENT && !UNREAD.has(dom.tag(node)) && !into.seen.has(node)) {
    gatherElement(node, into);
  }
}

/** True for a part of an item of a tree that has lines of its own: items below it. */
const isNestedItem = (node) => dom.type(node) === ELEMENT && /^(group|treeitem)$/.test(attribute(node, 'role') ?? '');

function gatherElement(element, into) {
  const { display, visibility } = styleOf(element);
  if (!into.hidden && (display === 'none' || (dom.hasAny(element) && flag(element, 'aria-hidden')))) return;
  into.seen.add(element);
  const apart = display !== 'inline' && display !== 'contents';
  if (apart) into.add(' ');
  const shows = into.hidden || visibility === 'visible';
  if (!shows || !gatherGiven(element, into)) gatherContent(element, into, shows);
  if (apart) into.add(' ');
}

/** Adds what stands for an element instead of its content: references, a control's value, a label; false for nothing. */
function gatherGiven(element, into) {
  const hasAny = dom.hasAny(element);
  if (hasAny && into.follows && gatherReferred(element, into)) return true;
  const value = embeddedValue(element, hasAny);
  const label = value === null && hasAny && dom.tag(element) !== 'slot' ? attribute(element, 'aria-label') : null;
  const own = value ?? (label?.trim() ? label : replacedText(element));
  if (own !== null) into.add(own || (hasAny && !isPresentational(element) && attribute(element, 'title')) || '');
  return own !== null;
}

function gatherContent(element, into, shows) {
  const start = into.text.length;
  const generates = shows && mayGenerate(element);
  if (generates) into.add(generatedText(element, '::before'));
  for (const child of innerNodes(element, NAME_NODES + 1)) gather(child, into, shows);
  if (!dom.hasAny(element)) return void (generates && into.add(generatedText(element, '::after')));
  for (const owned of referencesOf(element, 'aria-owns')) if (into.hidden || dom.rendered(owned)) gather(owned, into);
  if (generates) into.add(generatedText(element, '::after'));
  const title = shows ? attribute(element, 'title') : null;
  if (title && !normal(into.text.slice(start))) into.add(title);
}

/** Adds the elements that aria-labelledby of `element` refers to, whose own references do not count; false for none. */
function gatherReferred(element, into) {
  const targets = referencesOf(element, 'aria-labelledby');
  if (!targets.length) return false;
  const start = into.text.length;
  into.follows = false;
  for (const target of targets) {
    into.add(' ');
    gatherTarget(target, element, into);
  }
  into.follows = true;
  return normal(into.text.slice(start)) !== '';
}

/** Adds an element that aria-labelledby refers to: all of it if it is hidden, else what can be seen. */
function gatherTarget(target, owner, into) {
  const { hidden } = into;
  into.hidden = hidden || isHiddenTarget(target);
  if (target === owner) into.add(ownText(target));
  else if (!into.seen.has(target) && !UNREAD.has(dom.tag(target))) gatherElement(target, into);
  into.hidden = hidden;
}

/** The part of its name that an element has when it refers to itself. */
const ownText = (element) =>
  normal(attribute(element, 'aria-label') ?? '') || nativeName(element) ||
  (embeddedValue(element, true) === null ? contentText(element) : '');

function isHiddenTarget(element) {
  const { display, visibility } = styleOf(element);
  return display === 'none' || visibility !== 'visible' || dom.closest(element, '[aria-hidden="true"]') !== null ||
    (display !== 'contents' && !dom.rendered(element));
}

/** The elements that an attribute of ids refers to. */
function referencesOf(element, name) {
  const ids = attribute(element, name);
  if (!ids?.trim()) return [];
  return ids.trim().split(/\s+/).slice(0, 20).map((id) => sibling(element, id)).filter(Boolean);
}

const VALUED_FIELDS = wordSet('input select textarea progress meter');
const VALUED_ROLES = /menu|textbox|searchbox|combobox|listbox|slider|spinbutton|scrollbar|progressbar|meter/i;
const RANGES = wordSet('slider spinbutton scrollbar progressbar meter');

/** The value that stands for a control inside the name of another element; null for what is no such control. */
function embeddedValue(element, hasAny) {
  const isField = VALUED_FIELDS.has(dom.tag(element));
  if (!isField && !hasAny) return null;
  // The role of other elements may depend on their name, and so lead back here.
  const isMeant = isField || VALUED_ROLES.test(attribute(element, 'role') ?? '');
  const role = isMeant ? roleOf(element) : isEditingHost(element) ? 'textbox' : '';
  if (isSecret(element)) return '';
  if (RANGES.has(role)) {
    return attribute(element, 'aria-valuetext') ?? attribute(element, 'aria-valuenow') ?? rawValue(element);
  }
  if (role === 'textbox' || role === 'searchbox') return rawValue(element) ?? contentText(element);
  if (role === 'menu' || role === 'menubar') return '';
  if (role !== 'combobox' && role !== 'listbox') return null;
  if (dom.tag(element) === 'select') return Array.from(element.selectedOptions, optionLabel).join(' ');
  if (isField) return rawValue(element) ?? '';
  const chosen = [element, ...referencesOf(element, 'aria-owns')]
    .flatMap((root) => [...queryAll(root, '[role="option"][aria-selected="true"]')]).map((option) => contentText(option));
  return chosen.length || role === 'listbox' ? chosen.join(' ') : contentText(element);
}

/** The text that stands for an element without readable content; null for all other elements. */
function replacedText(element) {
  switch (dom.tag(element)) {
    case 'img': return attribute(element, 'alt') ?? '';
    case 'svg': return svgTitle(element) || (innerHasText(element) ? null : '');
    case 'br': return ' ';
    case 'input': return /^(button|submit|reset|image)$/.test(element.type) ? nativeName(element) : '';
    case 'iframe': case 'video': case 'audio': case 'canvas': return '';
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

/** The text of an element that contains nothing else; null for every other element. */
function onlyText(element, tag = dom.tag(element)) {
  if (dom.firstElement(element) !== null || tag === 'slot' || dom.shadow(element)) return null;
  return beginningOf(dom.textContent(element));
}

/** The readable content of an element, even a hidden one, without that of `skip`; an input has none. */
function contentText(element, skip = null) {
  const tag = dom.tag(element);
  if (tag === 'input') return '';
  const text = mayGenerate(element) || (dom.hasAny(element) && dom.has(element, 'aria-owns')) ? null : onlyText(element, tag);
  if (text !== null) return normal(text.length > NAME_LENGTH ? text.slice(0, NAME_LENGTH) : text);
  const into = new Gathering(skip);
  into.seen.add(element);
  into.isItem = attribute(element, 'role') === 'treeitem';
  gatherContent(element, into, true);
  return normal(into.text);
}

/** A name that the author gave by ARIA or title, whatever the role. */
function authorName(element) {
  return ariaName(element) || normal(attribute(element, 'title') ?? '');
}

function ariaName(element) {
  if (!dom.hasAny(element)) return '';
  if (dom.has(element, 'aria-labelledby')) {
    const into = new Gathering();
    if (gatherReferred(element, into)) return normal(into.text);
  }
  return normal(attribute(element, 'aria-label') ?? '');
}

/** The labels of a control. `element.labels` would search the whole page for each control; this searches once for all. */
const labelsOf = (element) => labelsIn(dom.root(element)).get(element) ?? [];

const labelsIn = onceATurn((root) => {
  const found = new Map();
  for (const label of queryAll(root, 'label')) {
    const control = inHtml(label) ? label.control : null;
    if (!control) continue;
    if (!found.has(control)) found.set(control, []);
    found.get(control).push(label);
  }
  return found;
});

function labelText(element) {
  let text = '';
  for (const label of labelsOf(element)) {
    text += ` ${attribute(label, 'aria-label')?.trim() || contentText(label, element)}`;
  }
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
    case 'input': return inputName(element);
    case 'button': case 'select': case 'textarea': case 'meter': case 'progress': case 'output':
      return labelText(element);
    case 'img': case 'area': return attribute(element, 'alt') ?? '';
    case 'option': case 'optgroup': return attribute(element, 'label') ?? '';
    case 'fieldset': case 'table': case 'figure': {
      const caption = captionOf(element, CAPTIONS[tag]);
      return caption ? contentText(caption) : tag === 'table' ? attribute(element, 'summary') ?? '' : '';
    }
    default: return inHtml(element) ? '' : svgTitle(element);
  }
}

function inputName(element) {
  switch (element.type) {
    case 'button': case 'submit': case 'reset':
      return labelText(element) || element.value || { submit: 'Submit', reset: 'Reset' }[element.type] || '';
    case 'image':
      return labelText(element) || attribute(element, 'alt') || attribute(element, 'title') || 'Submit';
    default: return labelText(element);
  }
}

/**
 * The accessible name, or what stands in for it; `role` is that of the line ('clickable' for a generic that reacts to
 * clicks), `isNamed` is true if its content is its name, undefined if that is unknown.
 */
function nameOf(element, role = roleOf(element), isNamed = isContentNamed(element, role)) {
  return accessibleName(element, isNamed) || standIn(element, role, isNamed).name;
}

function accessibleName(element, isNamed) {
  const given = ariaName(element) || normal(nativeName(element)) || (isNamed ? contentText(element) : '');
  if (given || !dom.hasAny(element)) return given;
  return normal(attribute(element, 'title') ?? '') || placeholderOf(element);
}

const placeholderOf = (element) =>
  normal(attribute(element, 'placeholder') ?? '') || normal(attribute(element, 'aria-placeholder') ?? '');

const NOTHING = { name: '', source: '' };

/** The name of a control that has none: what is written around it or hidden inside it, a file's name, the test id. */
function standIn(element, role, isNamed) {
  if (role !== 'clickable' && !INTERACTIVE_ROLES.has(role)) return NOTHING;
  const written = wrapperName(element) || (isNamed ? hiddenLabel(element) : '');
  if (written) return { name: written, source: '' };
  const file = isNamed ? pictureFile(element) : '';
  if (file) return { name: file, source: 'image file' };
  const id = normal(attribute(element, 'data-testid') ?? '');
  return id ? { name: id, source: 'test id' } : NOTHING;
}

const WRAPPERS = 4;

/** The label or title of a wrapper that contains nothing but this element. */
function wrapperName(element) {
  for (let child = element, i = 0; i < WRAPPERS; i += 1) {
    const wrapper = dom.parent(child);
    if (!wrapper || dom.type(wrapper) !== ELEMENT || isPage(dom.tag(wrapper)) || onlyChild(wrapper) !== child) return '';
    const role = roleOf(wrapper);
    if (role && role !== 'listitem') return '';
    const name = authorName(wrapper);
    if (name) return name;
    child = wrapper;
  }
  return '';
}

/** True for a wrapper whose label is that of the only control inside it. */
function namesControl(wrapper) {
  let inner = wrapper;
  for (let i = 0; i < WRAPPERS; i += 1) {
    inner = onlyChild(inner);
    const role = inner && roleOf(inner);
    if (inner && !role) continue;
    return inner !== null && INTERACTIVE_ROLES.has(role) && nameOf(inner, role) === ariaName(wrapper);
  }
  return false;
}

/** The element that is everything inside `element`; null if there is more or nothing. */
function onlyChild(element) {
  let only = null;
  for (let node = dom.first(element); node; node = dom.next(node)) {
    if (dom.type(node) === TEXT ? normal(dom.data(node)) : dom.type(node) === ELEMENT && only) return null;
    if (dom.type(node) === ELEMENT) only = node;
  }
  return only;
}

/** The first label, title or alternative text in the content of a control, such as that of a hidden icon. */
function hiddenLabel(element) {
  for (const inner of queryAll(element, '[aria-label],[title],[alt],title')) {
    const text = ariaName(inner) || normal(attribute(inner, 'title') || attribute(inner, 'alt') || '') ||
      (dom.tag(inner) === 'title' ? normal(dom.textContent(inner)) : '');
    if (text) return text;
  }
  return '';
}

/** The name of the file, or of the part of a file, that the only picture of a control shows. */
function pictureFile(element) {
  for (const picture of [element, ...queryAll(element, 'img,use')]) {
    const url = attribute(picture, 'src') || attribute(picture, 'href') || attribute(picture, 'xlink:href') || '';
    const isPicture = /^(img|use|input)$/.test(dom.tag(picture)) && !/^(data|blob|javascript):/i.test(url);
    const [path, part] = isPicture ? url.split('#') : [];
    const file = part || path?.split('?')[0].split('/').pop().replace(/\.\w+$/, '') || '';
    if (/\p{L}{2}/u.test(file)) return normal(file);
  }
  return '';
}
