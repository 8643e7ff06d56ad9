// Notes when conditions began to hold, and when somebody last acted in the page, on the page's own clock.
const DEEDS = ['click', 'auxclick', 'dblclick', 'contextmenu', 'keydown', 'input', 'submit', 'drop'];
/** Ms between two looks while the page does not change: what comes without a change of the document is seen then. */
const LOOKS_EVERY = 50;
/** Times that are kept of each watch. */
const MOST_RISES = 50;
/** Ms after which a watch ends that nobody asks for any more. */
const LONGEST_WATCH = 600_000;
/** Ms before now in which an event may have happened; another time is none of this clock. */
const OLDEST_EVENT = 10_000;

/** A number of this document, by which a new one is told from it. */
const documentNumber = Math.random();
let actedAt = null;

/** Notes that somebody acted so many ms ago. */
function noteDeed(age) {
  actedAt = now() - age;
}

for (const type of DEEDS) {
  listen(window, type, (event) => {
    if (!event.isTrusted) return;
    const ago = now() - event.timeStamp;
    const age = ago >= 0 && ago < OLDEST_EVENT ? ago : 0;
    const head = headWindow();
    if (head === window) noteDeed(age);
    else engineOf(head).noteDeed(age);
  }, capturing);
}

/** When somebody acted here last. */
const lastDeed = () => (headWindow() === window ? actedAt : engineOf(headWindow()).lastDeed()) ?? 0;

/** clock(): the time in this document, and when somebody last acted in it; ms since its navigation began. */
const clock = () => ({ now: now(), document: documentNumber, acted: actedAt });

/** `changed` is the time of the first change that was not looked at yet; no look is made before `rested`. */
const watching = { observer: null, roots: new Set(), every: new Map(), changed: null, rested: 0, isTimed: false };

/**
 * watchFor({watches, drop, slice, known?}): watches from now on what it does not watch yet, each {key, conditions, not,
 * locator?}, and no longer what `drop` names. It answers after `slice` ms, or once one has more than `known` rises. A
 * rise is when the conditions began to hold, as the earliest and the latest time that it can have been.
 */
async function watchFor({ watches, drop, slice, known }) {
  for (const key of drop) watching.every.delete(key);
  for (const { key, ...asked } of watches) {
    const watched = watching.every.get(key) ?? { ...asked, held: false, since: 0, count: 0, rises: [] };
    watching.every.set(key, watched);
    watched.asked = now();
  }
  if (watching.every.size) beginWatching();
  else endWatching();
  const told = () => ({ ...clock(), ...describePage(), states: watches.map(({ key }) => stateOfWatch(watching.every.get(key))) });
  return retry(slice, told, ({ states }) => states.some(({ count }) => count > known));
}

const stateOfWatch = ({ held, count, rises }) => ({ holds: held, count, rises });

function beginWatching() {
  watching.observer ??= new MutationObserver(noteChange);
  lookAtWatches();
  if (!watching.isTimed) keepLooking();
}

function endWatching() {
  watching.observer?.disconnect();
  watching.observer = null;
  watching.roots.clear();
}

function keepLooking() {
  watching.isTimed = watching.every.size > 0;
  if (!watching.isTimed) return;
  setTimer(() => {
    lookAtWatches();
    keepLooking();
  }, LOOKS_EVERY);
}

/** Looks at once; in a page that changes all the time, only after a rest. */
function noteChange() {
  const at = now();
  watching.changed ??= at;
  if (at >= watching.rested) lookAtWatches();
  else setTimer(() => { if (watching.changed !== null) lookAtWatches(); }, watching.rested - at);
}

function lookAtWatches() {
  const began = now();
  for (const [key, { asked }] of watching.every) if (began - asked > LONGEST_WATCH) watching.every.delete(key);
  if (!watching.every.size) {
    endWatching();
    return;
  }
  const { isCut } = looking;
  beginLook();
  observeRoots();
  for (const watched of watching.every.values()) {
    const held = isHeld(watched);
    // What changed the document most likely began it; without a change it began since the last look.
    if (held && !watched.held) addRise(watched, [watching.changed ?? watched.since, began]);
    watched.held = held;
    watched.since = began;
  }
  looking.isCut = isCut;
  watching.changed = null;
  watching.rested = now() + (now() - began);
}

function observeRoots() {
  for (const root of allRoots()) {
    if (watching.roots.has(root)) continue;
    watching.roots.add(root);
    watching.observer.observe(root, EVERY_CHANGE);
  }
}

/** False for what cannot be found here at all; the expectation says why. */
function isHeld({ conditions, locator, not }) {
  try {
    return assess(conditions, locator, not).ok;
  } catch {
    return false;
  }
}

function addRise(watched, rise) {
  watched.count += 1;
  watched.rises.push(rise);
  if (watched.rises.length > MOST_RISES) watched.rises.shift();
}
