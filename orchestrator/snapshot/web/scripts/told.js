// Remembers what each caller was told of an element: its ref stands for that, and not for what a page puts in its place.

/** By element the role and name that callers were told last, by the caller's key; under '' what anybody was told. */
const told = new WeakMap();
/** The key of whoever makes the present call. */
let caller = '';

function setCaller(key = '') {
  caller = key;
}

/** The digits of a number, with what groups them. */
const DIGITS = /\d[\d.,:]*/g;

const faceOf = (entry) => ({ role: entry.shownRole, name: entry.source ? '' : entry.name, acted: false });

/** The line of an entry that the caller gets to see. */
function toldLine(entry, focused) {
  noteTold(entry);
  return referredLine(entry, focused);
}

function noteTold(entry) {
  if (!entry.hasRef) return;
  const face = faceOf(entry);
  told.set(entry.element, { ...told.get(entry.element), '': face, [caller]: face });
}

/** What the caller was told of an element last; who was told nothing has it from somebody else. */
function faceTold(element) {
  const faces = told.get(element);
  return faces?.[caller] ?? faces?.[''];
}

/** Notes that the caller acts on an element: what it becomes by that is no surprise. */
function noteActed(element) {
  const face = faceTold(element);
  if (face) face.acted = true;
}

/** Refuses the ref of an element that is another thing than the caller was told: what a page does not rename is reused. */
function refuseRenamed(element, ref) {
  const was = faceTold(element);
  if (!was || !was.name) return;
  const entry = entryFor(element);
  const is = faceOf(entry);
  if (is.name === was.name || (was.acted && !hasMoved(element, was)) || isOneNumber(element, was, is)) return;
  const now = othersLike(element, was.role, (name) => name === was.name)[0];
  const successor = now ? `the former is ${refOf(now)} now` : 'nothing has the former role and name now';
  const name = was.role === is.role && is.name ? quoted(is.name) : headed(is);
  throw new Refusal('renamed', `${ref} was ${headed(was)} and is ${name} now; ${successor}`);
}

const headed = ({ role, name }) => (name ? `${role} ${quoted(name)}` : role);

/** The other visible elements of this role with such a name. */
function othersLike(element, role, isSuch) {
  const found = [];
  for (const [other, own] of ofRole(window.document, role)) {
    if (other !== element && isSuch(nameOf(other, own)) && isVisible(other)) found.push(other);
  }
  return found;
}

/** True if an act of the caller took an element's role and name elsewhere, to one that had others before. */
function hasMoved(element, was) {
  const head = headed(was);
  return othersLike(element, was.role, (name) => name === was.name).some((other) => {
    const line = latestMark.lines.get(other)?.line;
    return latestMark.document === window.document && !(line === head || line?.startsWith(`${head} `));
  });
}

/** True if only the numbers in a name have changed, and no other element differs from it by those alone. */
function isOneNumber(element, was, is) {
  const pattern = was.name.replace(DIGITS, '#');
  if (was.role !== is.role || is.name.replace(DIGITS, '#') !== pattern) return false;
  const isSuch = (name) => name.replace(DIGITS, '#') === pattern;
  for (const held of holders.values()) {
    const other = held.deref();
    const face = other && other !== element ? faceTold(other) : undefined;
    if (face && face.role === was.role && isSuch(face.name)) return false;
  }
  return !othersLike(element, was.role, isSuch).length;
}
