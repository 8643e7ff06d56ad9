// Finds elements by a parsed locator, through shadow roots and same-origin frames.

/** Ends a call with a reason for the caller, such as no match, a stale ref or an invalid selector. */
class Refusal extends Error {
  constructor(reason, detail) {
    super(detail);
    this.answer = { ok: false, reason, matches: 0, detail };
  }
}

/** Ends a call whose strict locator finds several elements; lists up to 5. */
class Ambiguity extends Refusal {
  constructor(found) {
    super('ambiguous', `${found.length} elements match`);
    Object.assign(this.answer, { matches: found.length, candidates: found.slice(0, 5).map(lineFor) });
  }
}

/** Ends a call whose locator leads into a frame of another origin. */
class Elsewhere extends Error {
  constructor(element, rest) {
    super('the locator leads into a cross-origin frame');
    this.answer = { crossOrigin: { path: pathTo(element), ref: refOf(element), rest } };
  }
}

/** Runs a search whose selector the platform may refuse. */
function parsed(locator, find) {
  try {
    return find();
  } catch {
    throw new Refusal('invalid', `${quoted(locator.value)} is not a valid ${locator.by} selector`);
  }
}

/** What a locator looks for, as `likeness` takes it: a text, or with `flags` a regular expression. */
const soughtBy = (locator, text) => (locator.flags === undefined ? normal(text)
  : parsed({ by: 'regular expression', value: text }, () => new RegExp(text, locator.flags)));

const everywhere = (start, css) => {
  const found = [];
  for (const root of rootsBelow(start)) for (const element of queryAll(root, css)) found.push(element);
  return found;
};

function byXpath(start, locator) {
  const found = [];
  for (const root of rootsBelow(start)) {
    // The platform refuses a shadow root as the context of an XPath.
    if (dom.type(root) === FRAGMENT) continue;
    const whole = dom.type(root) === DOCUMENT;
    const path = whole ? locator.value : locator.value.replace(/^(\(*)\//, '$1./');
    const result = parsed(locator, () => dom.evaluate(whole ? root : dom.document(root), path, root, null, 7, null));
    for (let i = 0; i < result.snapshotLength; i += 1) {
      const node = result.snapshotItem(i);
      if (dom.type(node) === ELEMENT) found.push(node);
    }
  }
  return found;
}

/** The best tier of [element, rank] pairs, in the order given; only visible ones if there are any. */
function best(ranked) {
  const visible = ranked.filter(([element]) => isLookOver() || isVisible(element));
  const pool = visible.length ? visible : ranked;
  let top = Infinity;
  for (const [, rank] of pool) top = Math.min(top, rank);
  return pool.filter(([, rank]) => rank === top).map(([element]) => element);
}

/** The best tier of what a locator may find: with `exact` only what reads just so. */
const bestFor = ({ exact }, ranked) => best(ranked.filter(([, rank]) => rank >= 0 && (!exact || rank === 0)));

const NAMED = `[aria-label],[aria-labelledby],img[alt],[title],[placeholder],[aria-placeholder],
  input[type=submit],input[type=button],input[type=reset]`;

/** The deepest elements whose visible text matches a regular expression, each with its rank. */
function patternMatches(root, pattern) {
  const { text, spans } = readingOf(root);
  const isMatch = ({ start, end }) => likeness(normal(text.slice(start, end)), pattern) === 0;
  const found = spans.filter((span) => !isLookOver() && isMatch(span));
  // Spans are in preorder: one that holds another match holds the next one.
  const deepest = found.filter((span, i) => i + 1 === found.length || found[i + 1].end > span.end);
  return new Map(deepest.map(({ element }) => [element, 0]));
}

function byText(start, locator) {
  const sought = soughtBy(locator, locator.value);
  const ranked = locator.flags === undefined ? textMatches(start, locator.value) : patternMatches(start, sought);
  for (const element of looked(everywhere(start, NAMED))) {
    const ranks = [nameOf(element), placeholderOf(element)].map((text) => likeness(text, sought));
    const rank = Math.min(...ranks.filter((each) => each >= 0));
    if (rank < Infinity && !ranked.has(element)) ranked.set(element, rank);
  }
  return bestFor(locator, [...ranked]);
}

const MAYBE_CONTROLS = 'input:not([type=hidden]),select,textarea,button,meter,progress,output,[contenteditable],[role]';
const CONTROL_ROLES = wordSet(`
  button checkbox combobox listbox radio searchbox slider spinbutton switch textbox meter progressbar status radiogroup`);

function byLabel(start, locator) {
  const wanted = soughtBy(locator, locator.value);
  const ranked = [];
  for (const element of looked(everywhere(start, MAYBE_CONTROLS))) {
    if (!CONTROL_ROLES.has(roleOf(element))) continue;
    const texts = [labelText(element), nameOf(element), placeholderOf(element)];
    const ranks = texts.map((each) => likeness(each, wanted)).filter((rank) => rank >= 0);
    if (ranks.length) ranked.push([element, Math.min(...ranks)]);
  }
  return bestFor(locator, ranked);
}

/** Elements by the value of one of their attributes, such as placeholder. */
function byAttribute(start, locator) {
  const wanted = soughtBy(locator, locator.value);
  return bestFor(locator, everywhere(start, `[${locator.name}]`)
    .map((element) => [element, likeness(normal(attribute(element, locator.name) ?? ''), wanted)]));
}

/** Elements by CSS, of those the ones that hold the text `name`. */
function byCssWithText(start, locator) {
  const wanted = soughtBy(locator, locator.name);
  const ranked = [];
  for (const element of looked(parsed({ by: 'css', value: locator.value }, () => everywhere(start, locator.value)))) {
    ranked.push([element, likeness(normal(textOf(element)) || nameOf(element), wanted)]);
  }
  return bestFor(locator, ranked);
}

/** The elements whose line can have the role `role`, each with the role that its name depends on. */
function* ofRole(start, role) {
  for (const element of looked(everywhere(start, '*'))) {
    const own = roleOf(element);
    if (own === role) yield [element, own];
    else if (!own && role === 'generic' && isClickable(element, styleOf(element), hasPointer(outer(element)))) {
      yield [element, 'clickable'];
    } else if (!own && labelledRole(element) === role) yield [element, role];
  }
}

function byRole(start, locator) {
  const { value, name } = locator;
  const any = name === undefined || name === null;
  const wanted = any ? '' : soughtBy(locator, name);
  const ranked = [];
  for (const [element, role] of ofRole(start, value)) {
    ranked.push([element, any ? 0 : likeness(nameOf(element, role), wanted)]);
  }
  return bestFor(locator, ranked);
}

function byLine(start, { value, name }) {
  const ranked = [];
  for (const [element, role] of ofRole(start, value)) {
    if (shown(nameOf(element, role)) === shown(name ?? '')) ranked.push([element, 0]);
  }
  return best(ranked);
}

function byAccessibilityId(start, { value }) {
  const id = CSS.escape(value);
  return everywhere(start, `[data-testid="${id}"],[aria-label="${id}"],#${id}`);
}

function byRef(start, { value }) {
  const element = elementOf(value);
  if (!element) throw new Refusal('stale', `${value} is no longer on the page`);
  return [element];
}

/** A frame that the caller has switched to. */
function byCurrent(start, { value }) {
  const frame = elementOf(value);
  if (!frame) throw new Refusal('frame_gone', `${value} is no longer on the page`);
  return [frame];
}

/** Locators of app drivers cannot be used in a page. */
function refuseNative(_, { by }) {
  const whose = by === 'android' ? 'Android' : 'iOS';
  throw new Refusal('invalid', `${by}= is for screens of ${whose} apps; in a web page use CSS, text=, role= or a ref`);
}

const SEARCHES = {
  ref: byRef,
  current: byCurrent,
  document: (start) => [dom.html(dom.type(start) === DOCUMENT ? start : dom.document(start))],
  line: byLine,
  attribute: byAttribute,
  css_with_text: byCssWithText,
  css: (start, locator) => parsed(locator, () => everywhere(start, locator.value)),
  xpath: byXpath,
  accessibility_id: byAccessibilityId,
  text: byText,
  label: byLabel,
  role: byRole,
  id: (start, { value }) => everywhere(start, `[id="${CSS.escape(value)}"]`),
  android: refuseNative, ios: refuseNative, chain: refuseNative,
  testid: (start, { value }) => everywhere(start, `[data-testid="${CSS.escape(value)}"]`),
};

function search(locator, start) {
  const find = SEARCHES[locator.by];
  if (!find) throw new Refusal('invalid', `there are no locators by ${quoted(`${locator.by}`)}`);
  return find(start, locator);
}

const noFrame = (match, locator) =>
  (match ? `${lineFor(match)} is not a frame, and >> leads into frames only` : `no frame matches ${describeLocator(locator)}`);

/** The refusal where no frame was found; of a match that is none it is the role that is refused. */
function unentered(match, locator) {
  const refusal = new Refusal('not_found', noFrame(match, locator));
  if (match) refusal.answer.isRole = true;
  return refusal;
}

/** The root of a search: the whole cluster, or the element or document that `frames` and `within` lead to. */
function startOf(locator) {
  let start = window.document;
  const frames = locator.frames ?? [];
  for (let i = 0; i < frames.length; i += 1) {
    const matches = search(frames[i], start);
    const found = matches.filter(isFrame);
    if (locator.strict && found.length > 1) throw new Ambiguity(found);
    const [element] = found;
    if (!element) throw unentered(matches[0], frames[i]);
    start = innerDocument(element);
    if (!start) throw new Elsewhere(element, [...frames.slice(i + 1), { ...locator, frames: undefined }]);
  }
  if (!locator.within) return start;
  const nested = locator.within.frames || locator.within.within;
  const around = search(locator.within, nested ? startOf(locator.within) : start)[0];
  if (!around) throw new Refusal('not_found', `nothing matches ${describeLocator(locator.within)}`);
  return around;
}

/** All elements that match, in tree order of the cluster; for a strict locator at most one. */
function locate(locator) {
  const found = [...new Set(search(locator, startOf(locator)))];
  if (locator.strict && found.length > 1) throw new Ambiguity(found);
  return found;
}

function mustFind(locator) {
  const found = locate(locator);
  if (!found.length) throw new Refusal('not_found', `nothing matches ${describeLocator(locator)}`);
  if (locator.by === 'ref') mustBeInPlace(found[0], locator.value);
  return found;
}

function describeLocator({ by, value, name }) {
  if (by === 'ref') return value;
  return name === undefined || name === null ? `${by} ${quoted(`${value}`)}` : `${value} ${quoted(name)}`;
}
