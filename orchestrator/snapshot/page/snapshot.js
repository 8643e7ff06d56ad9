// Answers what the page shows: the outline as lines, or its elements as data.

/** snapshot({scope, root?, query?, roles?, limit, offset, json, refs}). */
function snapshot({ scope, root, query, roles, limit, offset, json }) {
  const start = root ? mustFind(root)[0] : window.document;
  const { entries, frames, focused } = survey(start, scope !== 'page');
  const seen = scope === 'page' ? entries : entries.filter((entry) => entry.inside);
  const kept = chosen(json ? seen.filter((entry) => entry.hasRef) : seen, query, roles);
  const first = offset ?? 0;
  const part = kept.slice(first, first + (limit ?? kept.length));
  const listing = json
    ? { elements: part.map((entry) => described(entry, focused, selectorsFor(entries))) }
    : { lines: outlineLines(part, new Set(kept), focused) };
  return {
    ...describePage(), ...listing, total: kept.length, shown: part.length,
    outside: scope === 'page' ? 0 : entries.length - seen.length,
    frames: listFrames(frames.filter((frame) => seen.includes(frame)), entries, part, focused),
  };
}

/** The entries of the wanted roles with the wanted text, and the lines above those with the text. */
function chosen(entries, query, roles) {
  let kept = entries;
  if (roles?.length) {
    const wanted = new Set(roles);
    kept = kept.filter((entry) => wanted.has(entry.shownRole));
  }
  const sought = lower(normal(query ?? ''));
  if (!sought) return kept;
  const found = new Set();
  for (const entry of kept) {
    if (!lower(normal(`${entry.name} ${entry.value}`)).includes(sought)) continue;
    found.add(entry);
    if (!roles?.length) for (let up = entry.parent; up && !found.has(up); up = up.parent) found.add(up);
  }
  return entries.filter((entry) => found.has(entry));
}

function outlineLines(part, kept, focused) {
  const depths = new Map();
  return part.map((entry) => {
    const depth = depthAmong(entry, kept, depths);
    const dash = entry.role === 'more' ? '' : '- ';
    return `${'  '.repeat(depth)}${dash}${referredLine(entry, focused)}`;
  });
}

/** How many of the lines above an entry are kept: a filter leaves no holes in the indentation. */
function depthAmong(entry, kept, depths) {
  const { parent } = entry;
  if (!parent) return 0;
  if (!depths.has(parent)) depths.set(parent, depthAmong(parent, kept, depths) + (kept.has(parent) ? 1 : 0));
  return depths.get(parent);
}

/** The frames to look into: what they show goes after line `at` of the listing, one step further in than `depth`. */
function listFrames(frames, entries, part, focused) {
  const kept = new Set(part);
  return frames.map((frame) => {
    const before = new Set(entries.slice(0, entries.indexOf(frame) + 1));
    const at = part.filter((entry) => before.has(entry)).length - 1;
    return { ...frameFacts(frame, focused), at, depth: depthAmong(frame, kept, new Map()) - (kept.has(frame) ? 0 : 1) };
  });
}

const frameFacts = (entry, focused) =>
  ({ path: pathTo(entry.element), ref: refOf(entry.element), line: referredLine(entry, focused) });

/** The visible frames of other origins, wherever they stand: what is not found here may be there. */
function crossOriginFrames() {
  const elements = everywhere(window.document, 'iframe,frame');
  const closed = elements.filter((element) => isFrame(element) && !innerDocument(element) && isVisible(element));
  return closed.map((element) => ({ path: pathTo(element), ref: refOf(element), line: lineFor(element) }));
}

function described(entry, focused, selectors) {
  const { element, value } = entry;
  const states = entry.states(focused);
  return {
    ref: refOf(element), role: entry.shownRole, name: shown(entry.name), value: value ? shown(value) : undefined,
    states: states.length ? states : undefined, ...selectors(entry),
  };
}
