// Finds the element that scrolls in a direction, and waits until it is at rest.
const scrolling = { element: null, before: [0, 0] };
const REST_FRAMES = 6;
/** Points near the edges: a scroller that fills the page often leaves a margin there. */
const EDGES = [[0.004, 0.5], [0.99, 0.5], [0.5, 0.004], [0.5, 0.99]];

const isSideways = (direction) => direction === 'left' || direction === 'right';

/** True if content overflows along the direction, and the style lets a wheel move it. */
function canScroll(element, direction) {
  const page = element === dom.scroller(dom.document(element));
  const style = styleOf(element);
  const overflow = isSideways(direction) ? style.overflowX : style.overflowY;
  const room = isSideways(direction)
    ? dom.scrollWidth(element) - dom.clientWidth(element)
    : dom.scrollHeight(element) - dom.clientHeight(element);
  return room > 1 && (page ? overflow !== 'hidden' : /auto|scroll/.test(overflow));
}

/** The element itself, else the first scroller in it, else the nearest around it, else the page. */
function scrollerFor(element, direction) {
  if (isFrame(element) && innerDocument(element)) return dom.scroller(innerDocument(element));
  if (canScroll(element, direction)) return element;
  const inside = [...queryAll(element, '*')].find((each) => canScroll(each, direction) && isVisible(each));
  if (inside) return inside;
  for (let at = outer(element); at; at = outer(at)) if (canScroll(at, direction)) return at;
  return dom.scroller(dom.document(element));
}

/** The page in `doc`; if it does not scroll itself, its largest part that does. */
function pageScroller(direction, doc = window.document) {
  const page = dom.scroller(doc) ?? dom.html(doc);
  if (!page || canScroll(page, direction)) return page;
  let largest = page;
  let most = 0;
  for (const element of everywhere(doc, '*')) {
    if (!canScroll(element, direction) || !isVisible(element)) continue;
    const part = visiblePart(element);
    const area = hasArea(part) ? (part.right - part.left) * (part.bottom - part.top) : 0;
    if (area > most) [largest, most] = [element, area];
  }
  return largest;
}

const positionOf = (element) => [dom.scrollLeft(element), dom.scrollTop(element)];

function isAtEnd(element, direction) {
  const [left, top] = positionOf(element).map(Math.abs);
  switch (direction) {
    case 'up': return top <= 0;
    case 'left': return left <= 0;
    case 'right': return left + dom.clientWidth(element) >= dom.scrollWidth(element) - 1;
    default: return top + dom.clientHeight(element) >= dom.scrollHeight(element) - 1;
  }
}

const isWholePage = (element) => element === dom.scroller(dom.document(element));

/** The box in which a scroller shows its content: for a page, the viewport of its document. */
const paneOf = (element) => {
  const doc = dom.document(element);
  const lens = lensOf(doc);
  const around = frameOf(doc);
  if (!isWholePage(element)) return visiblePart(element);
  const pane = through(lens, viewportOf(doc));
  return around ? intersect(pane, visiblePart(around)) : pane;
};

/** A point where a wheel moves this scroller and not one inside it; else its middle. */
function wheelPoint(element, direction) {
  const pane = paneOf(element);
  const middle = centre(pane);
  const points = middle ? [middle, ...spreadOn(pane), ...spreadOn(pane, EDGES)] : [];
  return points.find((point) => wheeledAt(element, point, direction) === element) ?? middle ?? { x: 0, y: 0 };
}

/** The innermost scroller at this point that is not at its end, which a wheel moves; null inside a frame. */
function wheeledAt(element, point, direction) {
  const hit = hitAt(element, point);
  if (!hit || isFrame(hit)) return null;
  for (let at = hit; at; at = outer(at)) if (canScroll(at, direction) && !isAtEnd(at, direction)) return at;
  return null;
}

/** scrollInfo({locator?, direction}): the point for the wheel, and the size of what scrolls. */
function scrollInfo({ locator, direction }) {
  const around = locator ? mustFind(locator)[0] : null;
  if (around && !hasArea(visiblePart(around))) dom.reveal(around, { block: 'center', inline: 'center', behavior: 'instant' });
  const isPart = around && around !== dom.html(dom.document(around));
  const element = isPart ? scrollerFor(around, direction) : pageScroller(direction, around ? dom.document(around) : undefined);
  scrolling.element = element;
  if (!element) return { x: 0, y: 0, before: [0, 0], atEnd: true, page: [0, 0] };
  scrolling.before = positionOf(element);
  return {
    ...wheelPoint(element, direction), before: scrolling.before, atEnd: isAtEnd(element, direction),
    page: [dom.clientWidth(element), dom.clientHeight(element)], ref: isWholePage(element) ? undefined : refOf(element),
  };
}

/** scrolled({direction, slice, by?}): the distance, once the position is the same for some frames; `by` scrolls first. */
async function scrolled({ direction, slice, by }) {
  const { element, before } = scrolling;
  if (!element || !isLive(element)) return { moved: 0, atEnd: false, gone: true };
  if (by) dom.scrollBy(element, { left: by[0], top: by[1], behavior: 'instant' });
  const end = now() + (slice ?? 0);
  let position = positionOf(element);
  for (let still = 0; still < REST_FRAMES && now() < end; ) {
    await frame();
    const next = positionOf(element);
    still = next[0] === position[0] && next[1] === position[1] ? still + 1 : 0;
    position = next;
  }
  const axis = isSideways(direction) ? 0 : 1;
  return { moved: Math.round(Math.abs(position[axis] - before[axis])), atEnd: isAtEnd(element, direction) };
}

/** intoView({locator, slice, handle?}): scrolls the first visible match into view. */
async function intoView({ locator, slice, handle }) {
  const request = { locator, need: 'visible', slice, handle };
  const answer = await ready(request);
  if (!answer.ok) return answer;
  const { element } = acting;
  if (!isInView(element)) reveal(element);
  return { ...answer, ...placeOf(element) };
}
