// Compares the page with a mark, element by element, as lines of the outline.
const noMark = {
  document: null, url: '', title: '', lines: new Map(), requests: new WeakMap(), refusals: 0, focused: new Set(),
  disabled: null, isCut: false, messages: 0,
};
const marks = new Map();
let lastMark = noMark;

/** The mark of this name: each step of a sequence has its own. */
const markOf = (name) => marks.get(name ?? '') ?? noMark;

/** Surveys the page, also behind a dialog: elements that a dialog makes inert are not gone. */
const surveyAll = () => survey(window.document, false, true);

/** mark({name?, keep?}): from here on changes, requests and differences count; `keep` asks for a digest of its lines. */
function beginMark({ name, keep }) {
  const found = surveyAll();
  const mark = {
    document: window.document, ...describePage(), lines: linesByElement(found), requests: new WeakMap(),
    refusals: refusalsHeard, focused: found.focused, disabled: disabledField(), isCut: looking.isOver,
  };
  const roots = allRoots();
  for (const root of roots) {
    hearRefusals(root);
    if (dom.type(root) === DOCUMENT) mark.requests.set(root, requestsOf(dom.window(root)).beginStep());
  }
  marks.set(name ?? '', mark);
  lastMark = mark;
  noteRegions(roots);
  mark.messages = beginMessages(roots);
  leaving.since = null;
  watchChanges();
  return { ...describePage(), lines: mark.lines.size, ...(keep ? digested(mark.lines) : {}) };
}

/** Every line without ref and focus, by its element, or by the key of the nth text in one. */
function linesByElement({ entries }) {
  const nobody = new Set();
  const lines = new Map();
  const texts = new Map();
  for (const entry of looked(entries)) {
    if (entry.hasRef) lines.set(entry.element, { entry, line: lineOf(entry, nobody, '') });
    else {
      const nth = (texts.get(entry.element) ?? 0) + 1;
      texts.set(entry.element, nth);
      lines.set(textKey(entry.element, nth), { entry, line: lineOf(entry, nobody, '') });
    }
  }
  return lines;
}

const textKeys = new WeakMap();

/** One object for the nth text of an element, the same at each call. */
function textKey(element, nth) {
  const keys = textKeys.get(element) ?? [];
  textKeys.set(element, keys);
  keys[nth] ??= { nth };
  return keys[nth];
}

/**
 * delta({refs, limit, name?, before?}): the differences from the mark; in a new document from the one before, which had
 * this {url, digest}: `gone` are places in its digest, `kept` the number of lines that are as they were.
 */
const delta = (asked) => toldOf(compare(asked), asked.limit);

/** The mark, the page as it is now, and what differs. */
function compare({ name, before }) {
  const mark = markOf(name);
  const result = surveyAll();
  return { mark, result, found: differencesSince(mark, result, before) };
}

function toldOf({ mark, result, found }, limit) {
  const sameDocument = mark.document === window.document;
  const page = describePage();
  const { invalid, unsaid } = refusedSince(mark.refusals, result.focused);
  return {
    sameDocument, now: page, url: changeOf('url', mark, page, sameDocument), title: changeOf('title', mark, page, sameDocument),
    redrawn: found.redrawn, kept: found.kept, cameAndWent: cameAndWent(mark.messages), invalid, ...bounded(found, limit ?? 40, result.focused, unsaid),
  };
}

/** The differences of a survey from a mark; in a new document from the one before, see digest.js. */
function differencesSince(mark, result, before) {
  const lines = linesByElement(result);
  if (mark.document !== window.document) return differencesFrom(before, lines);
  // What was not read before or now may have been there all the time.
  return mark.isCut || looking.isOver ? differences(lines, lines) : differences(mark.lines, lines);
}

/** The entries that came, went, changed or moved; `redrawn` counts refs of elements that equal ones replaced. */
function differences(before, after) {
  const [was, is] = [[...before], [...after]];
  const linesOf = (listing) => listing.map(([key, { line }]) => [key, line]);
  const found = { appeared: [], changed: [], redrawn: 0 };
  const partners = new Map();
  for (const [old, young] of aligned(linesOf(was), linesOf(is))) {
    partners.set(young, old);
    if (was[old][0] !== is[young][0] && isReferred(was[old][0])) found.redrawn += 1;
  }
  is.forEach(([key, { entry, line }], place) => {
    if (partners.has(place)) {
      if (line !== was[partners.get(place)][1].line) found.changed.push(entry);
    } else if (before.has(key)) {
      entry.isMoved = true;
      if (!entry.parent?.isMoved || line !== before.get(key).line) found.changed.push(entry);
    } else if (saysSomething(line)) found.appeared.push(entry);
  });
  const paired = new Set(partners.values());
  found.disappeared = was.filter(([key], place) => !after.has(key) && !paired.has(place))
    .map(([, { line }]) => line).filter(saysSomething);
  return found;
}

/** Roles that group what is told without indentation: without name and state they say nothing there. */
const GROUPING_ROLES = wordSet(`
  article blockquote cell columnheader definition figure group list listitem paragraph row rowgroup rowheader table term
`);

/** A text between links and the like. */
const SEPARATOR = /^text: [.,;:|/·•›»]$/;

const saysSomething = (line) => !GROUPING_ROLES.has(line) && !SEPARATOR.test(line);

const changeOf = (key, mark, page, sameDocument) =>
  sameDocument && mark[key] !== page[key] ? { from: mark[key], to: page[key] } : null;

/**
 * At most `most` lines: what appeared first, then what changed, then what went; `more` counts the rest and `unsaid`. What
 * appeared ends with the `controls` of a new document; a quarter of the lines is held free for buttons and fields.
 */
function bounded({ appeared, disappeared, changed, controls = [], isNew, isElsewhere }, most, focused, unsaid) {
  const listed = [...(isNew || appeared.length > most ? byImportance(appeared, isElsewhere) : appeared), ...changed];
  const held = without(controls, listed.slice(0, most)).filter(isNoLink).slice(0, most / 4).length;
  const first = listed.slice(0, most - held);
  const told = [...first, ...linksLast(without(controls, first)).slice(0, most - first.length)];
  const gone = disappeared.slice(0, most - told.length);
  const total = new Set([...listed, ...controls]).size + disappeared.length;
  const altered = new Set(changed);
  const write = (entries) => entries.map((entry) => referredLine(entry, focused));
  return {
    appeared: write(told.filter((entry) => !altered.has(entry))), changed: write(told.filter((entry) => altered.has(entry))),
    disappeared: isNew ? [] : gone, gone: isNew ? gone : undefined,
    more: total - told.length - gone.length + unsaid || null,
  };
}

function without(entries, others) {
  const left = new Set(others);
  return entries.filter((entry) => !left.has(entry));
}
