// The outline of the page as lines, or its elements as data.

/** snapshot({scope, locator?, query?, roles?, limit, offset, json, refs}). */
function snapshot({ scope, locator, query, roles, limit, offset, json }) {
  const start = locator ? mustFind(locator)[0] : window.document;
  const isSelect = dom.type(start) === ELEMENT && dom.tag(start) === 'select';
  const folded = isSelect || query || roles?.includes('option') ? Infinity : json ? OPTIONS_SHOWN : 0;
  const { entries, frames, focused } = survey(start, scope !== 'page', false, folded);
  beginLook(); // a page that was read in part is told of as far as it was read
  const seen = scope === 'page' ? entries : entries.filter((entry) => entry.inside);
  const listed = (all) => (json ? all.filter((entry) => entry.hasRef) : all);
  const found = matching(listed(entries), query, roles);
  const hits = listed(seen).filter((entry) => found.has(entry));
  const kept = query && !roles?.length ? withLinesAbove(hits, listed(seen)) : hits;
  const first = offset ?? 0;
  const part = kept.slice(first, first + (limit ?? kept.length));
  const listing = json
    ? { elements: describedAll(part, focused, entries), lines: [] }
    : { lines: outlineLines(part, roles?.length ? new Set(kept) : null, focused) };
  return {
    ...describePage(), ...listing, total: kept.length, shown: (listing.elements ?? listing.lines).length,
    outside: scope === 'page' ? 0 : [...found].filter((entry) => !entry.inside).length,
    frames: listFrames(frames.filter((frame) => seen.includes(frame)), entries, part, focused),
  };
}

/** The entries of these roles with this text. */
function matching(entries, query, roles) {
  const wanted = roles?.length ? new Set(roles) : null;
  const sought = lower(normal(query ?? ''));
  const holds = (entry) => lower(textIn(entry)).includes(sought);
  const isWanted = (entry) => !wanted || wanted.has(entry.shownRole) || (entry.heading && wanted.has('heading'));
  return new Set(entries.filter((entry) => !isLookOver() && isWanted(entry) && (!sought || holds(entry))));
}

/** What a query is compared with. */
const textIn = (entry) => normal(`${entry.name} ${entry.value} ${entry.hasRef ? entry.placeholder : ''}`);

/** The hits among `entries`, and the lines above them, which say where they are. */
function withLinesAbove(hits, entries) {
  const kept = new Set();
  for (const hit of hits) for (let at = hit; at && !kept.has(at); at = at.parent) kept.add(at);
  return entries.filter((entry) => kept.has(entry));
}

/** The lines of a part; without `kept` no line above them is missing. */
function outlineLines(part, kept, focused) {
  const depths = new Map();
  const lines = [];
  for (const entry of part) {
    if (isLookOver()) break;
    const depth = kept ? depthAmong(entry, kept, depths) : entry.depth;
    const dash = entry.role === 'more' ? '' : '- ';
    lines.push(`${'  '.repeat(depth)}${dash}${referredLine(entry, focused)}`);
  }
  return lines;
}

/** The number of kept lines above an entry: a filter leaves no gaps in the indentation. */
function depthAmong(entry, kept, depths) {
  const { parent } = entry;
  if (!parent) return 0;
  if (!depths.has(parent)) depths.set(parent, depthAmong(parent, kept, depths) + (kept.has(parent) ? 1 : 0));
  return depths.get(parent);
}

/** The frames of other origins: their lines come after line `at`, indented one step further than `depth`. */
function listFrames(frames, entries, part, focused) {
  if (!frames.length) return [];
  const kept = new Set(part);
  return frames.map((frame) => {
    const before = new Set(entries.slice(0, entries.indexOf(frame) + 1));
    const at = part.filter((entry) => before.has(entry)).length - 1;
    return { ...frameFacts(frame, focused), at, depth: depthAmong(frame, kept, new Map()) - (kept.has(frame) ? 0 : 1) };
  });
}

const frameFacts = (entry, focused) =>
  ({ path: pathTo(entry.element), ref: refOf(entry.element), line: referredLine(entry, focused) });

/**
 * The visible frames of other origins in the scope of a locator, where its match may be. `entered` is true if the
 * frames that the locator names were found already, `around` the origin of the document that shows it.
 */
function crossOriginFrames(locator) {
  const start = reached(locator);
  const elements = everywhere(start ?? window.document, 'iframe,frame');
  const closed = elements.filter((element) => isFrame(element) && !innerDocument(element) && isVisible(element));
  const entered = start !== null;
  const around = { around: window.location.origin, complete: dom.readyState(window.document) === 'complete' };
  return closed.map((element) => (
    { path: pathTo(element), ref: refOf(element), line: lineFor(element), entered, ...around }));
}

/** The root of a locator's search; null while the frames that it names are not found. */
function reached(locator) {
  try {
    return startOf({ frames: locator?.frames });
  } catch {
    return null;
  }
}

function describedAll(part, focused, entries) {
  const selectors = selectorsFor(entries);
  return Array.from(looked(part), (entry) => described(entry, focused, selectors));
}

function described(entry, focused, selectors) {
  const { element, value } = entry;
  const states = entry.states(focused);
  const ref = refOf(element);
  tell(entry);
  return {
    ref, role: entry.shownRole, name: shown(entry.name), value: value ? shown(value) : undefined,
    states: states.length ? states : undefined, ...selectors(entry),
  };
}
