// Remembers what each caller was told of an element with a ref, and refuses a ref whose element is another thing now.
const MOST_CALLERS = 16;
const MOST_KINDS = 20_000;

/** Who is told, and in which call: an answer is read when its call is over. */
let reading = { caller: '', call: '', told: new WeakMap(), acted: new WeakMap() };
const readers = new Map();
/** What was told last to anybody: one caller may have a ref from another. */
const toldToAnyone = new WeakMap();
/** Counts what is told and done, so that it is known what came first. */
let told = 0;

/** Roles with names, digits apart, that were told: the number of the element, or `SEVERAL`. */
const kinds = new Map();
const SEVERAL = -1;

function readBy(caller, call) {
  if (!readers.has(caller)) {
    if (readers.size >= MOST_CALLERS) readers.delete(readers.keys().next().value);
    readers.set(caller, { told: new WeakMap(), acted: new WeakMap() });
  }
  reading = { caller, call, ...readers.get(caller) };
}

/** Most names have no digits, and a test is much cheaper than a replacement. */
const withoutDigits = (text) => (/\d/.test(text) ? text.replace(/\d+/g, '#') : text);
const kindOfThing = ({ role, name }) => `${role} ${withoutDigits(name)}`;
const isSameThing = (one, other) => one.role === other.role && one.name === other.name;

/** Notes that the answer shows this entry with its ref. */
function tell({ element, role, shownRole, name }) {
  const known = reading.told.get(element);
  const { call } = reading;
  const fact = { role: shownRole, inner: role, name: shown(name), at: told += 1, call, last: call, before: undefined };
  if (known && isSameThing(known, fact)) {
    known.at = fact.at;
    known.last = call;
    toldToAnyone.set(element, known);
    return;
  }
  fact.before = known?.call === call ? known.before : known;
  if (known) known.before = undefined;
  reading.told.set(element, fact);
  toldToAnyone.set(element, fact);
  noteKind(fact, numbers.get(element) ?? 0);
}

function noteKind(fact, number) {
  const kind = kindOfThing(fact);
  const known = kinds.get(kind);
  if (known === SEVERAL || known === number) return;
  if (kinds.size > MOST_KINDS) kinds.clear();
  kinds.set(kind, known && elementOf(`e${known}`) ? SEVERAL : number);
}

const isToldOfSeveral = (thing) => kinds.get(kindOfThing(thing)) === SEVERAL;

/** What the caller knew of an element when it made this call; undefined if nobody was told of it. */
function knownOf(element) {
  const own = reading.told.get(element);
  if (own) return own.call === reading.call ? own.before : own;
  const other = toldToAnyone.get(element);
  return other?.call === reading.call ? undefined : other;
}

/** What the element is now, seen as what it was told to be. */
function thingNow(element, known) {
  const role = roleOf(element) || known.inner;
  return { role: role === 'clickable' ? 'generic' : role, name: shown(nameOf(element, role)) };
}

/** Notes that the caller acts on an element: what this makes of it is still the same thing. */
function noteAct(element) {
  const known = knownOf(element);
  if (known && !isAsKnown(element, known, thingNow(element, known))) reading.acted.delete(element);
  else reading.acted.set(element, { at: told += 1, call: reading.call, lines: new WeakRef(lastMark.lines) });
}

/** Refuses to act on an element by a ref that was another thing when the caller was told of it. */
function mustBeAsTold(element, ref) {
  const known = knownOf(element);
  if (!known) return;
  const is = thingNow(element, known);
  if (!isAsKnown(element, known, is)) refuseChanged(ref, known, is, placeOfThing(element, known));
}

/** Refuses to read a control by a ref if another one is now what the caller was told of. */
function mustBeInPlace(element, ref) {
  const known = knownOf(element);
  if (!known || !INTERACTIVE_ROLES.has(known.role)) return;
  const is = thingNow(element, known);
  if (isAsKnown(element, known, is)) return;
  const place = placeOfThing(element, known);
  if (place) refuseChanged(ref, known, is, place);
}

function refuseChanged(ref, known, is, place) {
  const became = is.role === known.role ? quoted(is.name) : `${is.role} ${quoted(is.name)}`;
  const refusal = new Refusal('changed', `${ref} was ${known.role} ${quoted(known.name)} and is ${became} now`);
  Object.assign(refusal.answer, { matches: 1, instead: place });
  throw refusal;
}

function isAsKnown(element, known, is) {
  if (isSameThing(known, is)) return true;
  return (kindOfThing(known) === kindOfThing(is) && isOnlyOne(element, known)) || isOwnChange(element, known);
}

/** True if no other element has, or had when it was told, the same role and name but for digits. */
function isOnlyOne(element, known) {
  const kind = kindOfThing(known);
  return !isToldOfSeveral(known) && !othersLike(element, known, (other) => kindOfThing(other) === kind).length;
}

/** True if the caller acted on the element since, and it is not just the place of it that another thing has taken. */
function isOwnChange(element, known) {
  const act = reading.acted.get(element);
  if (!act || (act.at < known.at && act.call !== known.last)) return false;
  const others = othersLike(element, known, (other) => isSameThing(other, known));
  return wasShared(element, known, act, others) || (!others.length && !haveNeighboursChanged(element, known));
}

/** True if others had the same name then, so that it says nothing of which one is meant. */
function wasShared(element, known, act, others) {
  if (isToldOfSeveral(known) && known.name === withoutDigits(known.name)) return true;
  return others.some((other) => {
    const line = act.lines.deref()?.get(other);
    return line && isSameThing(known, { role: line.entry.shownRole, name: shown(line.entry.name) });
  });
}

/** The other elements that are such a thing now. */
function othersLike(element, known, isMeant) {
  const found = [];
  for (const [other, role] of ofRole(window.document, known.role)) {
    const thing = { role: known.role, name: shown(nameOf(other, role)) };
    if (other !== element && isMeant(thing) && isVisible(other)) found.push(other);
  }
  return found;
}

/** True if most things of its kind around the element changed as well, though nobody acted on them: a list was redrawn. */
function haveNeighboursChanged(element, known) {
  const neighbours = neighboursOf(element, known);
  const changed = neighbours.filter((other) => {
    const was = knownOf(other);
    const is = thingNow(other, was);
    return kindOfThing(was) !== kindOfThing(is) || (was.name !== is.name && isToldOfSeveral(was));
  });
  return changed.length > 0 && changed.length * 2 >= neighbours.length;
}

/** The nearest elements of the same role that the caller knows and did not act on. */
function neighboursOf(element, { role }) {
  const isKnown = (other) => other !== element && knownOf(other)?.role === role && !reading.acted.has(other);
  for (let around = outer(element); around; around = outer(around)) {
    const found = everywhere(around, '*').filter(isKnown);
    if (found.length) return found;
  }
  return [];
}

/** The ref of the one element that is now what the caller was told; undefined if there is none, or there are several. */
function placeOfThing(element, known) {
  const [found, ...more] = othersLike(element, known, (other) => isSameThing(other, known));
  if (!found || more.length) return undefined;
  const ref = refOf(found);
  tell(entryFor(found));
  return ref;
}
