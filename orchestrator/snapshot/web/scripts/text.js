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
