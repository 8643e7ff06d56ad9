// Waits until the page is at rest, and names what keeps it busy.
const watch = { observer: null, roots: new Set(), since: null, changed: 0, moved: -Infinity, culprit: null };
/** Ms in which scripts that wait for the end of an animation, by event or timer, react to it. */
const AFTER_MOVEMENT = 50;

/**
 * The time at which a navigation began, until its document is there. Drivers hold back commands during a navigation: if
 * this document gets another call, it stays, and the navigation was a download or had an empty answer. Firefox answers
 * calls all the time: there a document stays once no other one is requested any more.
 */
const leaving = { since: null };
listen(window, 'beforeunload', () => { leaving.since = now(); });
listen(window, 'pageshow', ({ persisted }) => { if (persisted) leaving.since = null; });

/** Observes changes of the page from now on, also in new roots. */
function watchChanges() {
  watch.observer ??= new MutationObserver(noteChanges);
  for (const root of allRoots()) {
    if (watch.roots.has(root)) continue;
    if (!watch.roots.size) watch.changed = now();
    else lookAtMessages(queryAll(root, MESSAGE_CSS));
    watch.roots.add(root);
    watch.observer.observe(root, EVERY_CHANGE);
  }
}

function noteChanges(records) {
  noteMessages(records);
  for (const record of records) {
    if (!isNoticed(record)) continue;
    watch.changed = now();
    watch.culprit = new WeakRef(elementAround(record.target));
    return;
  }
}

const elementAround = (node) => {
  if (dom.type(node) === TEXT) return dom.parent(node) ?? dom.html(window.document);
  return dom.type(node) === ELEMENT ? node : node.host ?? dom.html(node) ?? node;
};

/** True for a change that can be seen: inside an element that is rendered. */
function isNoticed({ target }) {
  if (!dom.connected(target)) return false;
  const element = elementAround(target);
  if (dom.type(element) !== ELEMENT) return true;
  return dom.boxes(element).length > 0 || styleOf(element).display === 'contents';
}

/**
 * settle({stability, slice, since?, name?, limit?, before?, late?, coming?, refs}): waits until `unrest` names nothing;
 * quiet counts from the first call with this `since`. `coming` if another document is requested. With `late` it also
 * waits for what may open, see opening.js. With `limit` the answer contains `delta` and the ms that it took.
 */
async function settle({ stability, slice, since, name, limit, before, late, coming }) {
  const end = now() + (slice ?? 0);
  endStep(since);
  const opening = late && new Opening(late);
  if (!beginQuiet(since) && !coming) stay();
  for (;;) {
    watchChanges();
    const quietFor = Math.round(now() - lastMoved());
    const left = stability - quietFor;
    let reason = unrest(markOf(name)) ?? (left > 0 ? changing() : null) ?? (opening?.isAwaited() ? UNOPENED : null);
    const told = reason || !limit ? {} : differing({ limit, name, before });
    reason ??= told.loading;
    if (!reason) return { settled: true, quietFor, ...told };
    if (now() >= end) return { settled: false, reason, quietFor };
    await pause(Math.max(1, Math.min(left > 0 ? left : 20, 50, end - now())));
  }
}

/** Ends a navigation that brought no document so far; one that was just answered may still become that. */
function stay() {
  if (leaving.since !== null) watch.changed = now();
  leaving.since = null;
}

/** Ms after the end of a step in which the requests that begin are its doing. */
const ASKS = 500;

/** Notes the end of the step, at the first call with this `since`; without one, at the first call after a mark. */
function endStep(since) {
  if (since === watch.since && since !== undefined) return;
  for (const doc of allDocuments()) {
    const requests = requestsOf(dom.window(doc));
    if (since !== undefined || requests.until === Infinity) requests.until = now() + ASKS;
  }
}

/** The time of the last change, or of the end of a request: what the page does with the answer may come a little later. */
const lastMoved = () => Math.max(watch.changed, ...allDocuments().map((doc) => requestsOf(dom.window(doc)).ended));

const UNOPENED = 'nothing has opened yet';

/** True at the first call with this `since`: quiet counts from there. */
function beginQuiet(since) {
  if (since === undefined || since === watch.since) return false;
  watch.since = since;
  watch.changed = now();
  return true;
}

/** The differences, or what says that something of them is still loading. */
function differing(asked) {
  beginLook();
  const began = now();
  const compared = compare(asked);
  const { appeared, changed } = compared.found;
  const stillLoading = loadingAmong([...appeared, ...changed]);
  if (stillLoading) return { loading: stillLoading };
  return { delta: toldOf(compared, asked.limit), deltaMs: Math.round(now() - began) };
}

function changing() {
  const element = watch.culprit?.deref();
  const isTold = element && dom.type(element) === ELEMENT && isLive(element);
  return isTold ? `the page keeps changing (${nickname(element)})` : 'the page has just changed';
}

/** Names the activity of the page, apart from its changes; null if there is none. */
function unrest(mark) {
  if (leaving.since !== null) return 'a navigation has begun';
  for (const doc of allDocuments()) {
    if (dom.readyState(doc) !== 'complete') return 'the document is still loading';
    const url = requestsOf(dom.window(doc)).pending(mark.requests.get(doc) ?? 0);
    if (url !== null) return `a request to ${shortAddress(url, doc)} is still in flight`;
  }
  return movement() ?? occupation(mark) ?? growth();
}

/**
 * Names what the page shows that it is busy with, or null. Quiet counts from its end: a page that hides "Loading" writes
 * the answer next, and hiding alone is no change that is noticed.
 */
function occupation(mark) {
  const reason = busyness() ?? heldField(mark) ?? loadingStill();
  if (reason) watch.changed = now();
  return reason;
}

function movement() {
  const reason = animation();
  if (reason) watch.moved = now();
  return reason ?? (now() - watch.moved < AFTER_MOVEMENT ? 'an animation has just ended' : null);
}

function animation() {
  for (const root of allRoots()) {
    const animations = dom.type(root) === DOCUMENT ? animationsOf(root) : [];
    for (const each of animations) {
      if (each.playState !== 'running' || each.timeline !== dom.timeline(root)) continue;
      const { effect } = each;
      if (!effect || !Number.isFinite(effect.getComputedTiming().endTime)) continue;
      const { target } = effect;
      if (target && !isRendered(target)) continue;
      return `an animation of ${target ? nickname(target) : 'the page'} is running`;
    }
  }
  return null;
}

const animationsOf = method(Document, 'getAnimations');
const isRendered = (element) => dom.boxes(element).length > 0;

const BUSY = `[aria-busy="true"],[role~="progressbar"],progress:indeterminate,
  [class*="spinner" i],[class*="loading" i],[class*="skeleton" i]`;

function busyness() {
  for (const element of everywhere(window.document, BUSY)) {
    if (isBusy(element) && isVisible(element) && isOpaque(element) && hasArea(visiblePart(element))) {
      return `${busyName(element)} is ${flag(element, 'aria-busy') ? 'busy' : 'visible'}`;
    }
  }
  return null;
}

function isBusy(element) {
  if (attribute(element, 'role') !== 'progressbar' || flag(element, 'aria-busy')) return true;
  const value = attribute(element, 'aria-valuenow');
  return value === null || Number(value) < Number(attribute(element, 'aria-valuemax') ?? 100);
}

const isOpaque = (element) => dom.rendered(element, { opacityProperty: true, visibilityProperty: true });

function busyName(element) {
  const role = roleOf(element);
  const name = role ? nameOf(element, role) : '';
  return name ? `${role} ${quoted(name)}` : role === 'progressbar' ? role : nickname(element);
}
