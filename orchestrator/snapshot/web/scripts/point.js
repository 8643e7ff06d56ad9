// Finds the point at which a pointer reaches an element, once it is at rest and in view.
const centre = (box) =>
  hasArea(box) ? { x: Math.floor((box.left + box.right) / 2), y: Math.floor((box.top + box.bottom) / 2) } : null;

const sameBox = (a, b) => a.left === b.left && a.top === b.top && a.right === b.right && a.bottom === b.bottom;

const SPREAD = [[0.25, 0.5], [0.75, 0.5], [0.5, 0.25], [0.5, 0.75], [0.1, 0.1], [0.9, 0.9]];

/** Sets `request.found.point`, or returns why no pointer reaches the element. */
async function pointAt(element, request) {
  const targets = [element, ...(dom.tag(element) === 'input' ? labelsOf(element) : [])];
  if (!isInView(element, await partSeen(element))) {
    if (request.stay) return no('outside', `${lineFor(element)} is outside the viewport`);
    reveal(element);
    request.found.scrolled = true;
  }
  if (isRestNeeded(element, request) && !(await isAtRest(element))) return no('moving', `${lineFor(element)} is moving`);
  let obstacle = null;
  for (const target of targets) {
    if (target !== element && !isVisible(target)) continue;
    const part = await partSeen(target);
    for (const point of pointsOn(target, part)) {
      const hit = hitAt(target, point);
      if (request.force || reaches(hit, element)) {
        request.found.point = point;
        if (request.aim) aimAt(element, point, request.aim, hit, request.isStill);
        if (request.carry) hearDrag();
        return null;
      }
      obstacle ??= hit;
    }
  }
  return obstructed(element, obstacle);
}

/** A press that is watched need not wait a frame to see whether the element moves, unless one has missed it before. */
const isRestNeeded = (element, { force, aim: kind, rest }) => !force && (!kind || rest || animationsOn(element).length > 0);

const Intersections = window.IntersectionObserver;
const SEEN_WITHIN = 500;

/** The visible part of `element`, also seen from a page of another origin that shows this one in a frame. */
function partSeen(element) {
  const part = visiblePart(element);
  if (window.parent === window) return part;
  return new Promise((resolve) => {
    const observer = new Intersections(([entry]) => {
      const { left, top, right, bottom } = through(lensOf(dom.document(element)), entry.intersectionRect);
      finish(intersect(part, { left, top, right, bottom }));
    });
    const timer = setTimer(finish, SEEN_WITHIN, part);
    function finish(seen) {
      observer.disconnect();
      clearTimer(timer);
      resolve(seen);
    }
    observer.observe((isArea(element) && pictureOf(element)) || element);
  });
}

/** True if the middle of the element can be seen, so that nothing has to scroll. */
function isInView(element, part = visiblePart(element)) {
  const middle = centre(boxOf(element));
  return middle !== null && hasArea(part) && contains(part, { left: middle.x, right: middle.x, top: middle.y, bottom: middle.y });
}

async function isAtRest(element) {
  // Within a frame the box does not change: an animation moves only from one frame to the next.
  const isAnimated = animationsOn(element).length > 0;
  if (isAnimated) await frame();
  const before = boxOf(element);
  const isDrawn = await frame();
  const isSame = isLive(element) && sameBox(before, boxOf(element));
  return isSame && (isDrawn || !isAnimated) && !animationsOn(element).some(({ pending }) => pending);
}

/** The running animations of an element and its ancestors. */
const animationsOn = (element) => animationsOf(dom.document(element)).filter(
  ({ effect, playState }) => playState === 'running' && effect?.target && isWithin(element, effect.target));

/** Points to try: the visible middle of each piece of the element in `whole`, then others. */
function pointsOn(element, whole) {
  const lens = lensOf(dom.document(element));
  const pieces = [...dom.boxes(element)].slice(0, 5);
  if (!pieces.length) pieces.push(ownBox(element));
  const points = pieces.map((piece) => centre(intersect(through(lens, piece), whole))).filter(Boolean);
  if (!points.length) return points;
  const spread = isArea(element) ? AREA_SPREAD : SPREAD;
  return [...points, ...(turnsBoxes(lens) ? spreadThrough(lens, ownBox(element), spread) : []), ...spreadOn(whole, spread)];
}

/** Points of an element in a frame that is turned: the corners of the box around it are outside. */
const spreadThrough = (lens, { left, top, right, bottom }, spread) => spread.map(([across, down]) =>
  floored(pointThrough(lens, left + (right - left) * across, top + (bottom - top) * down)));

const floored = ({ x, y }) => ({ x: Math.floor(x), y: Math.floor(y) });

const spreadOn = ({ left, top, right, bottom }, spread = SPREAD) => spread.map(([across, down]) =>
  ({ x: Math.floor(left + (right - left) * across), y: Math.floor(top + (bottom - top) * down) }));

/** The element that a pointer at `point` hits, in the element's document or in one around it that covers its frame. */
function hitAt(element, point) {
  const around = frameOf(dom.document(element));
  if (around) {
    const hit = hitAt(around, point);
    if (hit !== around) return hit;
  }
  const hit = elementAt(dom.document(element), point.x, point.y);
  return hit && dom.tag(hit) === 'img' && dom.has(hit, 'usemap') ? areaAt(hit, point) ?? hit : hit;
}

/** True if a click on `hit` is a click on `element`. */
function reaches(hit, element) {
  if (!hit) return false;
  if (isWithin(hit, element)) return true;
  const label = dom.closest(hit, 'label');
  return label !== null && label.control === element;
}

function obstructed(element, obstacle) {
  if (!obstacle) return no('hidden', `${lineFor(element)} is outside the viewport and cannot be scrolled into it`);
  if (styleOf(element).pointerEvents === 'none') {
    return no('covered', `${lineFor(element)} lets the pointer through (pointer-events: none)`);
  }
  const cover = coverOf(obstacle, element);
  return no('covered', `covered by ${lineFor(cover)}${roleOf(cover) ? '' : ` (${nickname(cover)})`}`);
}

const DIALOGS = 'dialog,[role="dialog"],[role="alertdialog"]';

/** The name of the cover for messages: a dialog or named element around or inside what was hit, without the target. */
function coverOf(obstacle, element) {
  for (let at = obstacle; at && !isWithin(element, at); at = outer(at)) {
    const role = roleOf(at);
    if (role === 'dialog' || role === 'alertdialog' || (role && nameOf(at, role))) return at;
    for (const dialog of queryAll(at, DIALOGS)) if (isVisible(dialog)) return dialog;
  }
  return obstacle;
}
