// Notices what is still being written: live regions that grow, "Loading", a field that is disabled until the reply came.
const LIVE = '[aria-live],[role~="log"],[role~="feed"],[role~="status"],[role~="alert"],output';
/** Ms in which a region that grew once, or again and again, may grow further. */
const PAUSE_AFTER = { first: 500, further: 1000 };
/** Regions of announcers for screen readers are a pixel in size. */
const SMALLEST = 4;
const regions = { known: new WeakMap(), areNoted: false };

/** Characters by which a text that grew is told from one that another replaced. */
const HEAD = 12;

/** Remembers how long the text of each live region is: from here on growth counts. */
function noteRegions(roots = allRoots()) {
  regions.known = new WeakMap();
  for (const region of liveRegions(roots)) regions.known.set(region, { ...sizeOf(region), growths: 0, at: -Infinity });
  regions.areNoted = true;
}

function sizeOf(region) {
  const content = dom.textContent(region);
  return { length: content.length, head: content.slice(0, HEAD) };
}

const liveRegions = (roots) => roots.flatMap((root) => [...queryAll(root, LIVE)])
  .filter((region) => attribute(region, 'aria-live') !== 'off' && isReadable(region));

function isReadable(element) {
  const box = visiblePart(element);
  return isVisible(element) && box.right - box.left > SMALLEST && box.bottom - box.top > SMALLEST;
}

/** Names a live region that is growing, or null. A message of one piece (role status, alert) is complete as it comes. */
function growth() {
  const roots = allRoots();
  if (!regions.areNoted) noteRegions(roots);
  for (const region of liveRegions(roots)) {
    const known = regions.known.get(region) ?? { length: 0, head: '', growths: 0, at: -Infinity };
    const size = sizeOf(region);
    // "Saving …" that "Saved: 3 entries" replaces is two messages, each of one piece.
    const growths = size.head.startsWith(known.head) ? known.growths + 1 : 1;
    if (size.length > known.length) Object.assign(known, { growths, at: now() });
    regions.known.set(region, Object.assign(known, size));
    if (now() - known.at < pauseOf(region, known.growths)) return `${busyName(region)} is growing`;
  }
  return null;
}

function pauseOf(region, growths) {
  if (growths > 1) return PAUSE_AFTER.further;
  return /^(?:status|alert)$/.test(roleOf(region)) ? 0 : PAUSE_AFTER.first;
}

/** Names the field that was used last if it has been disabled since the mark, or null. */
function heldField(mark) {
  const { field } = acting;
  if (!field || field === mark.disabled || !isLive(field) || !isDisabled(field)) return null;
  return `${busyName(field)} is disabled`;
}

const disabledField = () => (acting.field && isDisabled(acting.field) ? acting.field : null);

const LOADING = new RegExp(
  '^(?:loading|please wait|(?:loading|please wait|one moment|thinking|generating|processing|saving|sending|searching|' +
  'writing|working)[^.…]{0,40}(?:[.]{2,3}|…))$', 'i',
);
let loading = null;

/** Names what says "Loading" since it was found, or null. */
function loadingStill() {
  if (loading === null || !isLive(loading.element) || !isReadable(loading.element)) return null;
  return dom.textContent(loading.element) === loading.content ? loading.reason : null;
}

/** Names the first of these entries that says "Loading", or null. */
function loadingAmong(entries) {
  loading = null;
  const entry = entries.find((each) => LOADING.test(normal(each.name)) && isReadable(each.element));
  if (!entry) return null;
  const { element } = entry;
  loading = { element, content: dom.textContent(element), reason: `${quoted(entry.name)} is shown` };
  return loading.reason;
}

/** Names what has kept the page from being quiet for so many ms, or null. */
function disquiet(ms) {
  watchChanges();
  return movement() ?? busyness() ?? heldField(noMark) ?? (now() - watch.changed < ms ? changing() : null) ??
    loadingStill() ?? loadingAmong(survey().entries);
}
