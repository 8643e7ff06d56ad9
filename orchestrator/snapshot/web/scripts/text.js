// Reads the visible text of a part of the cluster, with the element that each piece of it came from.
const FIELDS_OF_TEXT = wordSet('input textarea select');

/** A line of text that knows its last character: whoever asks the browser for it joins all pieces again each time. */
class Line {
  constructor(text = '') {
    this.text = '';
    this.end = '';
    this.add(text);
  }

  get length() {
    return this.text.length;
  }

  add(text) {
    if (!text) return;
    this.text += text;
    this.end = text[text.length - 1];
  }

  /** Takes this character off the end, once or however often it is there. */
  trim(char, isOnce = false) {
    while (this.end === char) {
      this.text = this.text.slice(0, -1);
      this.end = this.text[this.text.length - 1] ?? '';
      if (isOnce) return;
    }
  }
}

/** Text on single lines with single spaces, as it is searched and compared. */
class Reading {
  constructor(most = Infinity) {
    this.most = most;
    this.more = false;
    this.lines = [];
    this.before = 0;
    this.line = new Line();
    this.spans = [];
    this.around = null;
    this.closed = [];
  }

  get text() {
    return [...this.lines, this.line.text].join('\n');
  }

  get length() {
    return this.before + this.line.length;
  }

  start(root) {
    if (dom.type(root) === DOCUMENT) this.visit(dom.html(root), true);
    else if (dom.type(root) === ELEMENT) this.visit(root, true);
    else for (let node = dom.first(root); node; node = dom.next(node)) this.visit(node, true);
    return this;
  }

  /** `around` is the style of the element that contains the node. */
  visit(node, visible, around = null) {
    this.more ||= this.length > this.most || isLookOver();
    const type = node && !this.more ? dom.type(node) : 0;
    if (type === TEXT && visible) this.write(dom.data(node), around);
    else if (type === ELEMENT && !UNREAD.has(dom.tag(node))) this.visitElement(node);
  }

  visitElement(element) {
    const style = styleOf(element);
    if (style.display === 'none' || isIgnored(element)) return;
    const tag = dom.tag(element);
    if (tag === 'br') this.breakLine(style);
    else if (FIELDS_OF_TEXT.has(tag) && inHtml(element)) this.readField(element, style);
    else this.readElement(element, tag, style);
  }

  readElement(element, tag, style) {
    const edge = edgeOf(style.display);
    this.divide(edge);
    const span = { element, start: this.length, end: 0, around: this.around };
    this.spans.push(span);
    this.around = span;
    this.enter(element, tag, style);
    this.around = span.around;
    span.end = this.length;
    this.divide(edge);
  }

  /** The value of a field is no text: what is typed would be found before it is sent. */
  readField() {
    this.divide(' ');
  }

  enter(element, tag, style) {
    const visible = showsText(style);
    const inner = isFrame(element) ? innerDocument(element) : null;
    if (inner) return this.visit(dom.html(inner), visible);
    if (isFrame(element)) this.closed.push({ element, at: this.length });
    const closed = tag === 'details' && !dom.has(element, 'open');
    for (const child of innerNodes(element)) {
      if (!closed || (dom.type(child) === ELEMENT && dom.tag(child) === 'summary')) this.visit(child, visible, style);
    }
    return undefined;
  }

  write(data) {
    const text = data.replace(INVISIBLE, '').replace(BLANK, ' ');
    const { length, end } = this.line;
    this.line.add(!length || end === ' ' ? text.replace(/^ /, '') : text);
  }

  breakLine() {
    this.divide('\n');
  }

  /** Ends a run: a line break replaces a space, and neither is doubled. */
  divide(edge) {
    if (!edge || !this.line.length || this.line.end === edge) return;
    if (edge === ' ') this.line.add(' ');
    else this.endLine();
  }

  endLine() {
    this.line.trim(' ', true);
    this.lines.push(this.line.text);
    this.before += this.line.length + 1;
    this.line = new Line();
  }
}

const showsText = ({ visibility, contentVisibility }) => visibility === 'visible' && contentVisibility !== 'hidden';

/** What sets an element apart from the text around it. */
const edgeOf = (display) =>
  (display === 'inline' || display === 'contents' ? '' : /^(inline|table-cell)/.test(display) ? ' ' : '\n');

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
    const span = covering(spans[reached - 1], at + sought.length);
    if (span && !found.has(span.element)) {
      found.set(span.element, likeness(normal(text.slice(span.start, span.end)), normal(wanted)));
    }
  }
  return found;
}

/** The deepest span that reaches to `end`, of the last one that begins before a place and those around it. */
function covering(last, end) {
  let span = last;
  while (span && span.end < end) span = span.around;
  return span ?? null;
}

const LONGEST_URL = 2000;

/** URL and title of the page; they are cut, since almost every answer contains them. */
function describePage() {
  const doc = window.document;
  return { url: cut(addressOf(doc), LONGEST_URL), title: cut(dom.title(doc), LONGEST) };
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

const written = new WeakMap();

/**
 * True for an element before or after which a style sheet may write text. Most sheets write none, and to ask for the
 * style of ::before costs as much as all else that is asked of an element.
 */
function mayGenerate(element) {
  const found = hostsIn(dom.root(element));
  return found === ANYWHERE || found.has(element);
}

/** The elements of a tree that the rules which write text are for; `ANYWHERE` if that cannot be said cheaply. */
const hostsIn = onceATurn((root) => {
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
});

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
  const text = display === 'none' ? '' : writtenText(content, element);
  return text && display !== 'inline' && display !== 'contents' ? ` ${text} ` : text;
}

const CONTENT_PARTS = /[a-z-]+\((?:"(?:[^"\\]|\\.)*"|[^)"])*\)|"((?:[^"\\]|\\.)*)"|\//gi;

const ATTR_FUNCTION = /^attr\(\s*([^\s,)]+)\s*(?:,\s*"((?:[^"\\]|\\.)*)"\s*)?\)$/i;
const decoded = (string) => string.replace(/\\(?:([\da-f]{1,6})\s?|(.))/gi, unescaped);

/** The strings of a value of `content`, or if there are any behind a slash those, since they are its alternative. */
function writtenText(content, element = null) {
  let text = '';
  for (const [part, string] of content.matchAll(CONTENT_PARTS)) {
    if (part === '/') text = '';
    else text += string ? decoded(string) : attributeText(part, element);
  }
  return text;
}

/** The text of an attr(), which Firefox leaves in the computed value; '' for any other function. */
function attributeText(part, element) {
  const [, name, otherwise = ''] = (element && ATTR_FUNCTION.exec(part)) ?? [];
  return name ? attribute(element, name) ?? decoded(otherwise) : '';
}

const unescaped = (_, code, char) => (code ? String.fromCodePoint(Math.min(parseInt(code, 16), 0x10ffff)) : char);
