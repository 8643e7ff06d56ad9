// Writes down the text of a part of the cluster as a reader sees it, with its lines, columns and indentation.
const SPACES_KEPT = /^(?:pre|pre-wrap|break-spaces|preserve)(?: |$)/;
const BREAKS_KEPT = /^(?:pre-line|preserve-breaks)(?: |$)/;
/** White space directly inside these is never shown, whatever `white-space` says. */
const SPACELESS = /flex|grid|^(?:inline-)?table$|^table-(?:row|.*-group)/;
const CELL_ROLES = wordSet('cell gridcell columnheader rowheader');
const WRITTEN_INPUT = /^(?!button|submit|reset|image|checkbox|radio|hidden|range|color)/;
const LEAST_FIELD = 5;

/**
 * Keeps the white space that CSS keeps, sets the cells of a row apart by tabs, and includes the values of fields. Other
 * runs of text have single spaces, and blocks their own lines.
 */
class Transcript extends Reading {
  constructor() {
    super(MOST_TEXT);
    /** True if the line ends with a space that the page would merge with the next one. */
    this.merges = false;
    this.blocks = 0;
    this.cells = 0;
    this.row = Infinity;
    this.missed = 0;
  }

  /** The text without empty lines around it, and how many characters are left out at its beginning. */
  get result() {
    const { text } = this;
    const lead = /^(?:[^\S\n]*\n)*/.exec(text)[0].length;
    return { whole: text.slice(lead).trimEnd(), lead };
  }

  write(data, around) {
    const space = around?.whiteSpace ?? '';
    if (SPACES_KEPT.test(space)) {
      if (/\S/.test(data) || !SPACELESS.test(around.display)) this.writeLines(data, (line) => this.keep(line));
    } else if (BREAKS_KEPT.test(space)) this.writeLines(data, (line) => this.flow(line));
    else this.flow(data);
  }

  writeLines(data, write) {
    data.split(/\r\n?|\n/).forEach((line, i) => {
      if (i) this.endLine();
      write(line);
    });
  }

  keep(data) {
    const text = data.replace(INVISIBLE, '').replace(/[^\S\t]|[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, ' ');
    if (!text) return;
    this.catchUp();
    this.line.add(text);
    this.merges = false;
  }

  /** No-break spaces are never merged: pages and editors indent with them. */
  flow(data) {
    const merged = data.replace(INVISIBLE, '').replace(/[ \t\n\r\f]+/g, ' ');
    const text = this.merges || !this.line.length ? merged.replace(/^ /, '') : merged;
    if (!text) return;
    this.catchUp();
    this.line.add(text.replace(/[\s\u0000-\u001f\u007f-\u009f]/g, ' '));
    this.merges = text.endsWith(' ');
  }

  /** Writes the empty lines of an editor that came before this one. */
  catchUp() {
    for (; this.missed > 0; this.missed -= 1) this.endLine();
  }

  /** At the beginning of a line, or of a column. */
  get isFresh() {
    return !this.line.length || (this.merges && this.line.end === '\t');
  }

  divide(edge) {
    if (!edge || this.isFresh) return;
    if (edge === '\n') this.endLine();
    else if (this.line.end !== ' ') {
      this.line.add(' ');
      this.merges = true;
    }
  }

  /** A second break in a row is an empty line; further ones count only where the page keeps white space. */
  breakLine({ position, whiteSpace }) {
    if (position === 'absolute') return;
    if (this.line.length || this.lines.at(-1) !== '' || SPACES_KEPT.test(whiteSpace)) this.endLine();
  }

  endLine() {
    if (this.merges) this.line.trim(' ', true);
    this.merges = false;
    this.lines.push(this.line.text);
    this.before += this.line.length + 1;
    this.line = new Line();
  }

  readElement(element, tag, style) {
    const role = dom.hasAny(element) ? attribute(element, 'role') : null;
    if (style.display === 'table-cell' || CELL_ROLES.has(role)) this.readCell(element, tag, style);
    else if (/^(?:inline-)?table(?:-row)?$/.test(style.display) || role === 'row') this.readRow(element, tag, style);
    else this.readBlock(element, tag, style);
  }

  readRow(element, tag, style) {
    const { cells, row } = this;
    this.divide('\n');
    this.cells = 0;
    this.row = this.lines.length;
    super.readElement(element, tag, style);
    this.line.trim('\t');
    this.divide('\n');
    this.cells = cells;
    this.row = row;
  }

  readCell(element, tag, style) {
    const { cells } = this;
    if (cells) this.nextColumn();
    this.enter(element, tag, style);
    this.cells = cells + 1;
  }

  /** Goes on in the line of the cell before, which blocks in that cell may have ended. */
  nextColumn() {
    if (!this.line.length && this.lines.length > this.row) {
      this.line = new Line(this.lines.pop());
      this.before -= this.line.length + 1;
    }
    this.line.trim(' ');
    this.line.add('\t');
    this.merges = true;
  }

  /** A line of code without text is an empty line. */
  readBlock(element, tag, style) {
    const isBlock = edgeOf(style.display) === '\n';
    if (isBlock) this.divide('\n');
    const { length } = this;
    this.blocks += isBlock ? 1 : 0;
    const { blocks } = this;
    super.readElement(element, tag, style);
    if (!isBlock || this.length > length || this.blocks > blocks) return;
    const isLine = SPACES_KEPT.test(style.whiteSpace) && style.position !== 'absolute';
    if (isLine && dom.box(element).height > 0) this.endLine();
  }

  enter(element, tag, style) {
    const lines = stackIn(element);
    if (!lines) return super.enter(element, tag, style);
    let isBegun = false;
    for (const line of lines) {
      const { length } = this;
      this.visit(line, showsText(style), style);
      if (this.length > length) isBegun = true;
      else if (isBegun) this.missed += 1;
    }
    this.missed = 0;
    return undefined;
  }

  readField(element, style) {
    this.divide(' ');
    const value = showsText(style) && !isInputOnly(element, style) ? beginningOf(writtenIn(element)) : '';
    this.writeLines(value, (line) => this.keep(line));
    this.divide(' ');
  }
}

/**
 * The children of an element from top to bottom, if it places them below each other itself: code editors and virtual
 * lists do so with their lines, which come in any order. Else null.
 */
function stackIn(element) {
  const first = dom.firstElement(element);
  if (!first || first === element.lastElementChild || styleOf(first).position !== 'absolute') return null;
  const nodes = innerNodes(element);
  if (nodes.some((node) => dom.type(node) === TEXT && normal(dom.data(node)))) return null;
  const children = nodes.filter((node) => dom.type(node) === ELEMENT);
  if (children.some((child) => styleOf(child).position !== 'absolute')) return null;
  const found = children.map((child) => ({ child, box: dom.box(child) }));
  if (found.some(({ box }) => Math.abs(box.left - found[0].box.left) > 1)) return null;
  return found.sort((a, b) => a.box.top - b.box.top).map(({ child }) => child);
}

/** True for the hidden field by which an editor takes its input. */
function isInputOnly(field, { opacity }) {
  const { width, height } = dom.box(field);
  return opacity === '0' || width < LEAST_FIELD || height < LEAST_FIELD;
}

/** What a field shows as text: its value, the label of a button, the options of a list. */
function writtenIn(field) {
  const tag = dom.tag(field);
  if (tag === 'select' && !isClosed(field)) return Array.from(field.options, optionLabel).join('\n');
  if (tag !== 'input' || WRITTEN_INPUT.test(field.type)) return valueOf(field);
  return /^(button|submit|reset)$/.test(field.type) ? field.value || nativeName(field) : '';
}

/**
 * text({locator?}): the text of the first match, or of the page, as a reader sees it, and the frames of other origins
 * after `at`; its beginning if there is `more`.
 */
function text({ locator }) {
  const found = locator ? mustFind(locator) : [window.document];
  const transcript = new Transcript().start(found[0]);
  const { whole, lead } = transcript.result;
  // In characters as Python counts them.
  const place = (at) => [...whole.slice(0, Math.max(0, at - lead))].length;
  const frames = transcript.closed.filter(({ element, at }) => at - lead <= MOST_TEXT && isVisible(element))
    .map(({ element, at }) => ({ path: pathTo(element), ref: refOf(element), at: place(at) }));
  const more = transcript.more || whole.length > MOST_TEXT;
  return { text: beginningOf(whole), more, matches: found.length, frames, ...describePage() };
}
