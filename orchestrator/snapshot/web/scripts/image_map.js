// Areas of image maps: they are not rendered, and lie where their image is drawn.
const SHAPES = { circle: boxOfCircle, circ: boxOfCircle, poly: boxOfPolygon, polygon: boxOfPolygon, default: null };
const isArea = (element) => dom.tag(element) === 'area' && inHtml(element);

/** The picture that an area is a part of: the first visible one that uses its map; null if there is none. */
function pictureOf(area) {
  const map = dom.closest(area, 'map');
  if (map === null) return null;
  const names = [dom.attribute(map, 'name'), dom.id(map)].filter(Boolean).map((name) => `#${name}`);
  for (const image of queryAll(dom.root(map), 'img[usemap]')) {
    if (names.includes(dom.attribute(image, 'usemap')) && isVisible(image)) return image;
  }
  return null;
}

/** The areas of the map that a picture uses. */
function areasOf(image) {
  const name = dom.attribute(image, 'usemap');
  if (!name || !name.startsWith('#')) return [];
  for (const map of queryAll(dom.root(image), 'map')) {
    if (dom.attribute(map, 'name') === name.slice(1) || dom.id(map) === name.slice(1)) return queryAll(map, 'area');
  }
  return [];
}

/** The box of an area in its document, from its coordinates in the picture; an empty one where it has no place. */
function areaBox(area) {
  const image = pictureOf(area);
  const whole = image && contentOf(image);
  const read = boxReaderOf(area);
  const inside = whole && (read ? read(numbersOf(area)) : whole);
  if (!inside) return sized({ left: 0, top: 0, right: 0, bottom: 0 });
  return sized(through(lensInto(image, ROOT_LENS), intersect(inside, whole)));
}

/** What reads the box of an area's shape from its numbers; null for one that is the whole picture. */
function boxReaderOf(area) {
  const shape = (dom.attribute(area, 'shape') ?? '').toLowerCase();
  return Object.hasOwn(SHAPES, shape) ? SHAPES[shape] : boxOfRectangle;
}

const numbersOf = (area) =>
  (dom.attribute(area, 'coords') ?? '').split(/[\s,;]+/).map(parseFloat).filter(Number.isFinite);

/**
 * The area that a pointer at a point of the root's viewport hits in a picture; null if there is none. Firefox names the
 * picture where a pointer hits an area.
 */
function areaAt(image, { x, y }) {
  const inside = pointThrough(reversed(lensInto(image, lensOf(dom.document(image)))), x, y);
  for (const area of areasOf(image)) if (holdsPoint(area, inside.x, inside.y)) return area;
  return null;
}

function holdsPoint(area, x, y) {
  const read = boxReaderOf(area);
  if (!read) return true;
  const numbers = numbersOf(area);
  const box = read(numbers);
  if (!box || !contains(box, { left: x, right: x, top: y, bottom: y })) return false;
  if (read === boxOfCircle) return Math.hypot(x - numbers[0], y - numbers[1]) <= numbers[2];
  return read === boxOfRectangle || isInPolygon(numbers, x, y);
}

/** True if a ray from the point crosses an odd number of sides. */
function isInPolygon(numbers, x, y) {
  let isInside = false;
  const corners = numbers.length >> 1;
  for (let i = 0, before = corners - 1; i < corners; before = i, i += 1) {
    const [x1, y1, x2, y2] = [numbers[2 * before], numbers[2 * before + 1], numbers[2 * i], numbers[2 * i + 1]];
    if (y1 > y !== y2 > y && x < x1 + ((y - y1) / (y2 - y1)) * (x2 - x1)) isInside = !isInside;
  }
  return isInside;
}

/** What a picture shows, in its own coordinates: its box without border and padding. */
function contentOf(image) {
  const style = styleOf(image);
  const padding = (side) => parseFloat(style[`padding${side}`]);
  return {
    left: 0,
    top: 0,
    right: dom.clientWidth(image) - padding('Left') - padding('Right'),
    bottom: dom.clientHeight(image) - padding('Top') - padding('Bottom'),
  };
}

const sized = (box) => ({ ...box, width: box.right - box.left, height: box.bottom - box.top });

function boxOfRectangle([x1, y1, x2, y2]) {
  if (y2 === undefined) return null;
  return { left: Math.min(x1, x2), top: Math.min(y1, y2), right: Math.max(x1, x2), bottom: Math.max(y1, y2) };
}

function boxOfCircle([x, y, radius]) {
  return radius === undefined ? null : { left: x - radius, top: y - radius, right: x + radius, bottom: y + radius };
}

function boxOfPolygon(numbers) {
  if (numbers.length < 6) return null;
  const [across, down] = [0, 1].map((odd) => numbers.slice(0, numbers.length & ~1).filter((_, index) => index % 2 === odd));
  return { left: Math.min(...across), top: Math.min(...down), right: Math.max(...across), bottom: Math.max(...down) };
}

/** Points all over the box of an area, whose shape may leave out its middle, or be covered by other areas there. */
const GRID = [0.06, 0.19, 0.31, 0.44, 0.56, 0.69, 0.81, 0.94];
const AREA_SPREAD = GRID.flatMap((across) => GRID.map((down) => [across, down]));

/** Scrolls to an element; to an area by way of its picture. */
function reveal(element) {
  const image = isArea(element) ? pictureOf(element) : null;
  dom.reveal(image ?? element, { block: 'center', inline: 'center', behavior: 'instant' });
  if (!image || isInView(element)) return;
  const [middle, view] = [centre(boxOf(element)), viewportOf(window.document)];
  const root = dom.scroller(window.document);
  if (middle && root) dom.scrollBy(root, { left: middle.x - view.right / 2, top: middle.y - view.bottom / 2, behavior: 'instant' });
}
