// Writes an entry as a line; no other part knows the format of lines.

/** The line without indentation and dash; `ref` is '' for a line without one. */
function lineOf(entry, focused, ref) {
  if (entry.role === 'text') return `text: ${plain(entry.text)}${entry.isMoved ? ' [moved]' : ''}`;
  if (entry.role === 'more') return entry.text;
  const { name, value } = entry;
  let line = entry.shownRole;
  if (name) line += ` ${quoted(name)}`;
  if (ref) line += ` [${ref}]`;
  for (const state of entry.states(focused)) line += ` [${state}]`;
  return value ? `${line} = ${quoted(value)}` : line;
}

/** The line with its ref, for answers other than the outline. */
function referredLine(entry, focused) {
  if (!entry.hasRef) return lineOf(entry, focused, '');
  const ref = refOf(entry.element);
  tell(entry);
  return lineOf(entry, focused, ref);
}

/** The line that an element has, or would have if the outline listed it. */
const lineFor = (element) => referredLine(entryFor(element), focusedElements());

function entryFor(element) {
  const pointer = hasPointer(outer(element));
  const other = () => (isClickable(element, styleOf(element), pointer) ? 'clickable' : labelledRole(element) || 'generic');
  const role = roleOf(element) || other();
  return new Entry(element, role, { entry: null, depth: 0 }, true);
}

const hasPointer = (element) => element !== null && styleOf(element).cursor === 'pointer';
