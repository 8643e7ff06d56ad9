// Watches where the pointer arrives: keeps a press from every element but the one that it is meant for.
const PRESSES = [
  'pointerdown', 'mousedown', 'pointerup', 'mouseup', 'touchend', 'click', 'auxclick', 'dblclick', 'contextmenu', 'drop',
];
/** The events that tell where the pointer has arrived, by what it is to do there. */
const ARRIVALS = {
  press: new Set(['pointerdown', 'mousedown', 'touchstart']),
  hold: new Set(['pointerdown', 'mousedown']),
  hover: new Set(['pointerover', 'pointermove']),
};
/** Elements in which another page may get what arrives there, unheard by this one. */
const HOLDING_PAGES = new Set(['iframe', 'frame', 'object', 'embed', 'fencedframe']);
const RELEASES = new Set(['pointerup', 'mouseup', 'touchend', 'click']);
const DROPS = new Set(['mouseup', 'drop']);
/** Ms after which an aim no longer holds: a person who uses the page meanwhile must not be kept from it. */
const AIMED_FOR = 15000;
/** Pixels by which an event may miss the point, since the pointer stands on whole ones. */
const BESIDE = 2;

const [prevent, stop, pathOf] = ['preventDefault', 'stopImmediatePropagation', 'composedPath']
  .map((name) => method(Event, name));
const capturing = { capture: true, passive: false };

/** What the next press is meant for, and the element that it reached first; null while there is none. */
let aim = null;
/** The answer of `pressed` since the last aim: if it was lost on its way, it is asked for again. */
let whereItArrived = {};

/**
 * Notes that a pointer is about to come to `point` of the root's viewport, for `kind` of the arrivals; `hit` is there now.
 * `isStill` tells if the element is still what is meant: some lists give an element the text of another option.
 */
function aimAt(element, point, kind, hit, isStill = () => true) {
  whereItArrived = {};
  isFormRead = false;
  aim = {
    element, point, kind, isStill, look: lookOf(element), until: now() + AIMED_FOR,
    isAwaited: kind !== 'hover' && hit !== null && !HOLDING_PAGES.has(dom.tag(hit)),
    hit: null, heard: false, released: false, byTouch: false, landed: true, slipped: false, strayed: false, drop: null,
  };
  for (const view of windowsAround(element)) mustHear(view);
  setPassing(kind === 'hover' ? ['pointerover', 'pointermove'] : ['touchstart']);
}

/** The listeners that would slow down a page that moves and scrolls: they are there for one press alone. */
let passing = [];

function setPassing(types) {
  for (const [view, type] of passing) unlisten(view, type, notePointer, capturing);
  passing = types.flatMap((type) => windowsAround(aim.element).map((view) => [view, type]));
  for (const [view, type] of passing) listen(view, type, notePointer, capturing);
}

/** The windows of the element's document and of those around it. */
function windowsAround(element) {
  const doc = dom.document(element);
  const frame = frameOf(doc);
  return [dom.window(doc), ...(frame ? windowsAround(frame) : [])];
}

/** How an element looks to whoever aims at it: another that looks the same has taken its place when it is gone. */
function lookOf(element) {
  const role = roleOf(element);
  return `${dom.tag(element)} ${role} ${nameOf(element, role) || shown(dom.textContent(element))}`;
}

/** An event by which a window is asked if it still hears: a page that writes its document anew ends all listeners. */
const EARS = `${KEY}-ears`;
let hears = false;

function mustHear(view) {
  hears = false;
  dispatch(view, new Event(EARS));
  if (!hears) hearPresses(view);
}

/** Hears the pointer in a window: the head's engine knows what is aimed at. */
function hearPresses(view) {
  listen(view, EARS, () => { hears = true; });
  for (const type of PRESSES) {
    listen(view, type, (event) => {
      const head = headWindow();
      if (head === window) notePointer(event);
      else engineOf(head).notePointer(event);
    }, capturing);
  }
}

hearPresses(window);

function notePointer(event) {
  if (!aim || !event.isTrusted || now() > aim.until) return;
  if (!aim.heard) noteTrace(event);
  if (!aim.hit && ARRIVALS[aim.kind].has(event.type)) noteArrivalAt(event);
  else if (aim.hit && aim.landed && event.type === 'pointerup') noteRelease(event);
  else if (aim.hit && aim.byTouch && event.type === 'mousedown') aim.strayed = !isMeant(pathOf(event)[0]);
  if (RELEASES.has(event.type)) aim.released = true;
  if (aim.kind === 'hold' && DROPS.has(event.type)) [aim.drop] = pathOf(event);
  if (!isKeptOff(event)) return;
  stop(event);
  prevent(event);
}

/** True for what another element shall not get; the mouse events of a tap come after it, to whatever is there then. */
const isKeptOff = ({ type }) =>
  aim.kind !== 'hover' && (!aim.landed || aim.strayed || (aim.slipped && type === 'click'));

function noteArrivalAt(event) {
  if (!isAtAim(event)) return;
  [aim.hit] = pathOf(event);
  aim.byTouch = event.pointerType === 'touch';
  aim.landed = isMeant(aim.hit) && aim.isStill();
}

/** A page may keep the first events of a press from everybody, and get the later ones. */
function noteTrace(event) {
  aim.heard ||= isAtAim(event) || isMeant(pathOf(event)[0]);
}

/** A button that moves away while it is held down gets no click. */
function noteRelease(event) {
  const [hit] = pathOf(event);
  if (aim.kind !== 'press' || isMeant(hit) || !isLive(aim.element) || isHere()) return;
  aim.slipped = true;
}

const isHere = () => {
  const { x, y } = aim.point;
  return contains(boxOf(aim.element), { left: x, right: x, top: y, bottom: y });
};

function isAtAim(event) {
  const touch = event.touches?.[0] ?? event;
  const at = pointThrough(lensOf(dom.document(pathOf(event)[0])), touch.clientX, touch.clientY);
  return Math.abs(at.x - aim.point.x) <= BESIDE && Math.abs(at.y - aim.point.y) <= BESIDE;
}

function isMeant(hit) {
  for (let at = hit; at; at = frameOf(dom.document(at))) if (reaches(at, aim.element)) return true;
  if (isLive(aim.element)) return false;
  for (let at = hit; at; at = outer(at)) if (lookOf(at) === aim.look) return true;
  return false;
}

/**
 * pressed({drop?}): `missed` says what the pointer met instead of the element that was aimed at; `moved` if that moved
 * away, `lost` if it met nothing at all, `held` if only its release was lost. `cover` took what was dropped at the point
 * `drop`, in front of the element that was found last.
 */
function pressed({ drop }) {
  const ended = aim;
  if (!ended) return whereItArrived;
  const hit = ended.hit ?? foreignFrameAt(ended);
  const lost = (hit === null && isLost(ended)) || undefined;
  const held = isLeftHeld(ended) || undefined;
  const isMissed = lost || held || (ended.hit ? !ended.landed || ended.slipped : hit !== null);
  const moved = isMissed && (!isLive(ended.element) || !isHere());
  const missed = isMissed ? describeMiss(ended, hit, held) : undefined;
  setPassing([]);
  aim = null;
  const cover = drop && !isMissed ? coverAtDrop(ended.drop, drop) : undefined;
  whereItArrived = { missed, moved: moved || undefined, lost, held, cover };
  return whereItArrived;
}

/** True for a press of which nothing was heard in the page where it was to arrive. */
const isLost = ({ isAwaited, heard, until }) => isAwaited && !heard && now() <= until;

/** True for a press whose release went elsewhere, since the page's tab is not in front any more. */
const isLeftHeld = ({ kind, hit, landed, released }) =>
  kind === 'press' && hit !== null && landed && !released && document.visibilityState === 'hidden';

/** True once a form was read since the last aim: it is about to be sent, unless a script sends it itself. */
let isFormRead = false;
listen(window, 'formdata', () => { isFormRead = true; }, capturing);

/**
 * arrived({}): as `pressed`, with `leaves` if the page is about to navigate or to be closed, once it has had a turn; `begun`
 * if it surely navigates.
 */
async function arrived() {
  const told = pressed({});
  const leaves = leaving.since !== null || isFormRead || window.closed;
  if (!leaves) return told;
  await pause(0);
  return { ...told, leaves, begun: leaving.since !== null || undefined };
}

/** What lies over the target, and took the drop: a picture of what is dragged is gone by now. */
function coverAtDrop(taker, [x, y]) {
  const target = acting.element;
  if (!taker || !target || !isLive(target) || isWithin(taker, target)) return undefined;
  const hit = hitAt(target, { x, y });
  const isBeneath = contains(boxOf(target), { left: x, right: x, top: y, bottom: y });
  return isBeneath && hit && isWithin(taker, hit) && !reaches(hit, target) && !isWithin(target, hit) ? lineFor(coverOf(hit, target)) : undefined;
}

/** The frame of another origin that covers the element now: no event in it is heard here. */
function foreignFrameAt({ element, point }) {
  if (!isLive(element)) return null;
  const hit = hitAt(element, point);
  return hit && isFrame(hit) && !innerDocument(hit) && !reaches(hit, element) ? hit : null;
}

function describeMiss({ element, isStill }, hit, isHeld) {
  if (isHeld) return `${lineFor(element)} with its release: a window that the page opened took it`;
  const isThere = isLive(element);
  if (hit === null) return `${isThere ? lineFor(element) : 'the element, which is gone'}: nothing of the press arrived in its page`;
  if (isThere && !isStill()) return `${lineFor(element)}: it had another name when the pointer was sent there`;
  if (!isThere) return `the element: it is gone, and ${lineFor(coverOf(hit, element))} is in its place`;
  return `${lineFor(element)}: ${isHere() ? obstructed(element, hit).detail : 'it moved away as the pointer came'}`;
}
