// Finds the lines that a caller may have meant, for errors about what was not found or not as expected.
const MOST_CANDIDATES = 5;
const LEAST_LIKE = 0.4;
const AROUND = { before: 3, after: 5 };
/** What says where the user is, if nothing on the page is like what was sought. */
const SIGNPOSTS = wordSet('alert alertdialog dialog heading status');

/** The pairs of neighbouring letters in the words of a text, so that a word with a slip is still much the same. */
function pairsOf(text) {
  const pairs = new Set();
  const words = normal(text).replace(/(\p{Ll})(?=\p{Lu})/gu, '$1 ').toLowerCase().split(/[^\p{L}\p{N}]+/u);
  for (const word of words.filter(Boolean)) {
    const bounded = ` ${word} `;
    for (let i = 1; i < bounded.length; i += 1) pairs.add(bounded.slice(i - 1, i + 1));
  }
  return pairs;
}

/** How like two texts are, from 0 to 1: how much of one is in the other. */
function resemblance(sought, text) {
  const found = pairsOf(shown(text));
  let common = 0;
  for (const pair of sought) if (found.has(pair)) common += 1;
  // A short text inside a long one says less than the other way round, and of two texts the shorter one is nearer.
  return common ? Math.max(common / sought.size, 0.8 * common / found.size) - found.size / 10_000 : 0;
}

/** What a locator looks for: a text, a role, and if it is a path through the markup, the names of elements. */
function aimOf({ by, value, name }) {
  const hasRole = by === 'role' || by === 'line';
  const isPath = by === 'css' || by === 'xpath' || by === 'id' || by === 'testid' || by === 'accessibility_id';
  const text = hasRole || by === 'css_with_text' ? name ?? '' : /^(ref|document|current)$/.test(by) ? '' : `${value}`;
  return { text: isPath ? text.replace(/:[\w-]+(\([^)]*\))?/g, ' ') : text, role: hasRole ? value : null, isPath };
}

const identifiers = (element) => [
  dom.tag(element), dom.id(element), attribute(element, 'class') ?? '', attribute(element, 'data-testid') ?? '',
].join(' ');

/** The entries that are most like what was sought, the nearest first. */
function mostLike(entries, { text, role, isPath }) {
  const sought = pairsOf(text);
  const scored = [];
  for (const entry of looked(entries)) {
    const written = `${entry.name} ${entry.value} ${isPath ? identifiers(entry.element) : ''}`;
    const likeness = sought.size ? resemblance(sought, written) : 0;
    const isOfRole = entry.shownRole === role;
    if (likeness >= LEAST_LIKE || isOfRole) scored.push([likeness + (isOfRole ? 0.5 : 0), entry]);
  }
  return scored.sort(([a], [b]) => b - a).slice(0, MOST_CANDIDATES).map(([, entry]) => entry);
}

/** Lines that the caller may have meant with a locator that found nothing, from the part of the page where it looks. */
function candidatesFor(locator) {
  const { entries, focused } = survey(startNear(locator));
  return mostLike(entries.filter((entry) => entry.hasRef), aimOf(locator)).map((entry) => referredLine(entry, focused));
}

function startNear(locator) {
  try {
    return startOf(locator);
  } catch {
    return window.document;
  }
}

/** The lines that are most like what was not found, or like the text that is not in what was found, or around that. */
function linesNear(found, locator, text) {
  const isMissing = locator && !found.length;
  const { entries, focused } = survey(isMissing ? startNear(locator) : window.document);
  let near = [];
  if (isMissing) near = mostLike(entries.filter((entry) => entry.hasRef), aimOf(locator));
  else if (text !== undefined) near = mostLike(entriesIn(found, entries), { text });
  if (!near.length && found.length) near = linesAround(entries, found[0]);
  if (!near.length) near = entries.filter(({ role }) => SIGNPOSTS.has(role)).slice(0, MOST_CANDIDATES);
  return near.map((entry) => referredLine(entry, focused));
}

const entriesIn = ([element], entries) =>
  (element ? entries.filter((entry) => isWithin(entry.element, element)) : entries);

function linesAround(entries, element) {
  let place = entries.findIndex((entry) => isWithin(entry.element, element));
  // Part of a line, such as a word of a sentence.
  if (place < 0) place = entries.findLastIndex((entry) => isWithin(element, entry.element));
  return place < 0 ? [] : entries.slice(Math.max(0, place - AROUND.before), place + AROUND.after);
}
