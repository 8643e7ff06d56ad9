// Reads the visible text of a part of the cluster, with the element that each piece of it came from.
class Reading {
  constructor() {
    this.text = '';
    this.spans = [];
    this.closed = [];
  }

  start(root) {
    if (dom.type(root) === DOCUMENT) this.visit(dom.html(root), true);
    else if (dom.type(root) === ELEMENT) this.visit(root, true);
    else for (let node = dom.first(root); node; node = dom.next(node)) this.visit(node, true);
    return this;
  }

  visit(node, visible) {
    const type = node ? dom.type(node) : 0;
    if (type === TEXT && visible) this.write(dom.data(node));
    else if (type === ELEMENT && !UNREAD.has(dom.tag(node))) this.visitElement(node);
  }

  visitElement(element) {
    const style = styleOf(element);
    if (style.display === 'none' || isIgnored(element)) return;
    const tag = dom.tag(element);
    if (tag === 'br') return void this.divide('\n');
    if (tag === 'textarea' || tag === 'select') return;
    const { display } = style;
    const edge = display === 'inline' || display === 'contents' ? '' : /^(inline|table-cell)/.test(display) ? ' ' : '\n';
    this.divide(edge);
    const span = { element, start: this.text.length, end: 0 };
    this.spans.push(span);
    this.enter(element, tag, style.visibility === 'visible' && style.contentVisibility !== 'hidden');
    span.end = this.text.length;
    this.divide(edge);
  }

  enter(element, tag, visible) {
    const inner = isFrame(element) ? innerDocument(element) : null;
    if (inner) return this.visit(dom.html(inner), visible);
    if (isFrame(element)) this.closed.push({ element, at: this.text.length });
    const closed = tag === 'details' && !dom.has(element, 'open');
    for (const child of innerNodes(element)) {
      if (!closed || (dom.type(child) === ELEMENT && dom.tag(child) === 'summary')) this.visit(child, visible);
    }
    return undefined;
  }

  write(data) {
    const text = data.replace(INVISIBLE, '').replace(BLANK, ' ');
    const last = this.text.slice(-1);
    this.text += last === '' || last === ' ' || last === '\n' ? text.replace(/^ /, '') : text;
  }

  /** Ends a run: a line break replaces a space, and neither is doubled. */
  divide(edge) {
    if (!edge || !this.text) return;
    const last = this.text.slice(-1);
    if (last === '\n' || last === edge) return;
    if (last === ' ') this.text = this.text.slice(0, -1);
    this.text += edge;
  }
}

const readingOf = (root) => new Reading().start(root);
const textOf = (root) => readingOf(root).text.trim();

/** The deepest elements whose visible text contains `wanted`, each with its rank. */
function textMatches(root, wanted) {
  const found = new Map();
  const sought = lower(normal(wanted));
  if (!sought) return found;
  const { text, spans } = readingOf(root);
  const hay = lower(text).replace(/\n/g, ' ');
  let reached = 0;
  for (let at = hay.indexOf(sought); at >= 0; at = hay.indexOf(sought, at + sought.length)) {
    while (reached < spans.length && spans[reached].start <= at) reached += 1;
    const span = covering(spans, reached - 1, at, at + sought.length);
    if (span && !found.has(span.element)) {
      found.set(span.element, likeness(normal(text.slice(span.start, span.end)), normal(wanted)));
    }
  }
  return found;
}

/** The last span in preorder that covers [start, end): the deepest, as spans nest. */
function covering(spans, from, start, end) {
  for (let i = from; i >= 0; i -= 1) if (spans[i].start <= start && spans[i].end >= end) return spans[i];
  return null;
}

const LONGEST_URL = 2000;

/** URL and title of the page; they are cut, since almost every answer contains them. */
function describePage() {
  const doc = window.document;
  return { url: cut(addressOf(doc), LONGEST_URL), title: cut(dom.title(doc), LONGEST) };
}

/** text({locator?}): the visible text of the first match, or of the page, and the frames of other origins after `at`. */
function text({ locator }) {
  const found = locator ? mustFind(locator) : [window.document];
  const { text: whole, closed } = readingOf(found[0]);
  const lead = whole.length - whole.trimStart().length;
  const frames = closed.filter(({ element }) => isVisible(element))
    // In characters as Python counts them.
    .map(({ element, at }) => ({ path: pathTo(element), ref: refOf(element), at: [...whole.slice(lead, at)].length }));
  return { text: whole.trim(), matches: found.length, frames, ...describePage() };
}

/** frameWay({locator}): the path to a frame; `closed` if it is of another origin. */
function frameWay({ locator }) {
  const [frame] = mustFind(locator);
  return { path: pathTo(frame), ref: refOf(frame), closed: !innerDocument(frame) };
}

const sheetsOf = {
  [DOCUMENT]: reader(Document, 'styleSheets'), [FRAGMENT]: reader(ShadowRoot, 'styleSheets'),
};
/** Older browsers have style sheets only in elements. */
const adoptedBy = 'adoptedStyleSheets' in Document.prototype
  ? { [DOCUMENT]: reader(Document, 'adoptedStyleSheets'), [FRAGMENT]: reader(ShadowRoot, 'adoptedStyleSheets') }
  : { [DOCUMENT]: () => [], [FRAGMENT]: () => [] };
const rulesOf = reader(CSSStyleSheet, 'cssRules');

/** More selectors than this cost more to search for than the styles of all elements that are asked. */
const HOSTS_SOUGHT = 16;
const ANYWHERE = null;

let hosts = null;
const written = new WeakMap();

/**
 * True for an element before or after which a style sheet may write text. Most sheets write none, and to ask for the
 * style of ::before costs as much as all else that is asked of an element.
 */
function mayGenerate(element) {
  if (!hosts) {
    hosts = new Map();
    soon(() => { hosts = null; });
  }
  const root = dom.root(element);
  let found = hosts.get(root);
  if (found === undefined) {
    found = hostsIn(root);
    hosts.set(root, found);
  }
  return found === ANYWHERE || found.has(element);
}

/** The elements of a tree that the rules which write text are for; `ANYWHERE` if that cannot be said cheaply. */
function hostsIn(root) {
  const type = dom.type(root);
  if (!(type in sheetsOf)) return new Set();
  try {
    const selectors = [...sheetsOf[type](root), ...adoptedBy[type](root)].flatMap(hostSelectors);
    if (selectors.length > HOSTS_SOUGHT) return ANYWHERE;
    return new Set(selectors.length ? queryAll(root, selectors.join(',')) : []);
  } catch {
    // A sheet of another origin cannot be read, and some selectors cannot be searched for.
    return ANYWHERE;
  }
}

/** The selectors of a sheet's rules that write text, without their pseudo-elements. */
function hostSelectors(sheet) {
  const rules = rulesOf(sheet);
  const known = written.get(sheet);
  if (known?.length === rules.length) return known.selectors;
  const selectors = [];
  for (const rule of rules) addHosts(rule, selectors);
  written.set(sheet, { length: rules.length, selectors });
  return selectors;
}

function addHosts(rule, selectors) {
  if (rule.styleSheet) selectors.push(...hostSelectors(rule.styleSheet));
  for (const inner of rule.cssRules ?? []) addHosts(inner, selectors);
  const content = /:(before|after)/.test(rule.selectorText ?? '') ? rule.style.content : '';
  if (!content || !(/attr\(|var\(/.test(content) || normal(writtenText(content)))) return;
  // Rules inside rules begin with & for the selector around them.
  selectors.push(rule.selectorText.includes('&') ? '*' : withoutPseudo(rule.selectorText));
}

const withoutPseudo = (selector) =>
  selector.replace(/(^|[\s,>+~(])::?(?:before|after)/g, '$1*').replace(/::?(?:before|after)/g, '');

/** The text that a style writes before or after the content of an element, set apart as a block is. */
function generatedText(element, pseudo) {
  const style = styleOf(element, pseudo);
  const { content } = style;
  if (content === 'none' || content === 'normal' || style.visibility !== 'visible') return '';
  const { display } = style;
  const text = display === 'none' ? '' : writtenText(content);
  return text && display !== 'inline' && display !== 'contents' ? ` ${text} ` : text;
}

const CONTENT_PARTS = /[a-z-]+\((?:"(?:[^"\\]|\\.)*"|[^)"])*\)|"((?:[^"\\]|\\.)*)"|\//gi;

/** The strings of a value of `content`, or if there are any behind a slash those, since they are its alternative. */
function writtenText(content) {
  let text = '';
  for (const [part, string] of content.matchAll(CONTENT_PARTS)) {
    if (part === '/') text = '';
    else if (string) text += string.replace(/\\(?:([\da-f]{1,6})\s?|(.))/gi, unescaped);
  }
  return text;
}

const unescaped = (_, code, char) => (code ? String.fromCodePoint(Math.min(parseInt(code, 16), 0x10ffff)) : char);
