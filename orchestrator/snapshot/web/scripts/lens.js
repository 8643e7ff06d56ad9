// The map out of a frame: from coordinates inside it to those around it, through whatever turns, scales or tilts it.
/** A projective map as the three rows of its matrix, which are applied to (x, y, 1). */
const ROOT_LENS = [1, 0, 0, 0, 1, 0, 0, 0, 1];

const scaledAndShifted = (scaleX, scaleY, left, top) => [scaleX, 0, left, 0, scaleY, top, 0, 0, 1];

/** The map that does `first` and then `second`. */
function chained(second, first) {
  const product = [];
  for (let row = 0; row < 9; row += 3) {
    for (let column = 0; column < 3; column += 1) {
      product.push(second[row] * first[column] + second[row + 1] * first[column + 3] + second[row + 2] * first[column + 6]);
    }
  }
  return product;
}

/** The map back, but for a factor, which changes no point. */
const reversed = ([a, b, c, d, e, f, g, h, i]) => [
  e * i - f * h, c * h - b * i, b * f - c * e,
  f * g - d * i, a * i - c * g, c * d - a * f,
  d * h - e * g, b * g - a * h, a * e - b * d,
];

function pointThrough([a, b, c, d, e, f, g, h, i], x, y) {
  const depth = g * x + h * y + i;
  return { x: (a * x + b * y + c) / depth, y: (d * x + e * y + f) / depth };
}

const cornersOf = ({ left, top, right, bottom }) => [[left, top], [right, top], [right, bottom], [left, bottom]];

/** The box around what a box becomes. */
function through(lens, box) {
  const { left, top, right, bottom } = box;
  if (lens === ROOT_LENS) return { left, top, right, bottom };
  const corners = cornersOf(box).map(([x, y]) => pointThrough(lens, x, y));
  const [across, down] = [corners.map(({ x }) => x), corners.map(({ y }) => y)];
  return { left: Math.min(...across), top: Math.min(...down), right: Math.max(...across), bottom: Math.max(...down) };
}

/** True if something remains of what is seen through the map: a frame may be scaled to nothing. */
const showsArea = ([a, b, , d, e]) => a * e - b * d !== 0;

/** True for a map under which boxes do not stay boxes, so that the middle of one is all that surely is inside. */
const turnsBoxes = ([, b, , d, , , g, h]) => b !== 0 || d !== 0 || g !== 0 || h !== 0;

/** The map from the content of a frame to its document, and from there on through `around`. */
const lensInto = (frame, around) => chained(around, (isTilted(frame) && tiltedLens(frame)) || uprightLens(frame));

function lensOf(doc) {
  const frame = frameOf(doc);
  return frame ? lensInto(frame, lensOf(dom.document(frame))) : ROOT_LENS;
}

const paddingOf = ({ paddingLeft, paddingTop }) => [parseFloat(paddingLeft), parseFloat(paddingTop)];

/** The map of a frame that is at most scaled and moved: its box says all. */
function uprightLens(frame) {
  const box = dom.box(frame);
  const [left, top] = paddingOf(styleOf(frame));
  const width = dom.layoutWidth(frame);
  const scale = width ? box.width / width : 1;
  const inset = [(dom.clientLeft(frame) + left) * scale, (dom.clientTop(frame) + top) * scale];
  return scaledAndShifted(scale, scale, box.left + inset[0], box.top + inset[1]);
}

/** Pixels by which two ways of measuring may differ. */
const BY_ROUNDING = 1.5;

/** True if the upright map is wrong for a frame; no page turns a frame while our code runs. */
const isTilted = onceATurn((frame) => {
  const measured = tiltedLens(frame);
  if (!measured) return false;
  const upright = uprightLens(frame);
  const inside = { left: 0, top: 0, right: dom.clientWidth(frame), bottom: dom.clientHeight(frame) };
  return cornersOf(inside).some(([x, y]) => !areNear(pointThrough(measured, x, y), pointThrough(upright, x, y)));
});

const areNear = (a, b) => Math.abs(a.x - b.x) <= BY_ROUNDING && Math.abs(a.y - b.y) <= BY_ROUNDING;

/** The map as the browser measures it, by where the corners of the frame's box are inside it; null if it does not. */
function tiltedLens(frame) {
  const box = dom.box(frame);
  if (!hasArea(box)) return null;
  const corners = offsetsIn(frame, cornersOf(box));
  if (!corners) return null;
  const outwards = chained(scaledAndShifted(box.width, box.height, box.left, box.top), reversed(ontoCorners(corners)));
  const zoom = frame.currentCSSZoom || 1;
  const edge = [dom.clientLeft(frame), dom.clientTop(frame)];
  const [width, height] = [dom.layoutWidth(frame), dom.layoutHeight(frame)];
  const borders = { left: -edge[0], top: -edge[1], right: width - edge[0], bottom: height - edge[1] };
  const around = through(chained(outwards, scaledAndShifted(zoom, zoom, 0, 0)), borders);
  if (!cornersOf(around).every(([x, y], n) => areNear({ x, y }, pointOf(cornersOf(box)[n])))) return null;
  const [left, top] = paddingOf(styleOf(frame));
  return chained(outwards, scaledAndShifted(zoom, zoom, left * zoom, top * zoom));
}

const pointOf = ([x, y]) => ({ x, y });

/** The map of the square from (0, 0) to (1, 1) onto four corners, in the order of `cornersOf`. */
function ontoCorners([[x0, y0], [x1, y1], [x2, y2], [x3, y3]]) {
  const [slantX, slantY] = [x0 - x1 + x2 - x3, y0 - y1 + y2 - y3];
  const [acrossX, acrossY, downX, downY] = [x1 - x2, y1 - y2, x3 - x2, y3 - y2];
  const area = acrossX * downY - downX * acrossY;
  const g = (slantX * downY - downX * slantY) / area;
  const h = (acrossX * slantY - slantX * acrossY) / area;
  return [x1 - x0 + g * x1, x3 - x0 + h * x3, x0, y1 - y0 + g * y1, y3 - y0 + h * y3, y0, g, h, 1];
}

/** The name of an event that nobody listens to but us. */
const MEASURING = `${KEY}-offset`;
const [offsetX, offsetY] = [reader(MouseEvent, 'offsetX'), reader(MouseEvent, 'offsetY')];

/** Points of the viewport as the browser maps them into an element, for an event of the pointer; null if it does not. */
function offsetsIn(element, points) {
  const heard = [];
  const hear = (event) => heard.push([offsetX(event), offsetY(event)]);
  listen(element, MEASURING, hear);
  for (const [clientX, clientY] of points) dispatch(element, new PointerEvent(MEASURING, { clientX, clientY }));
  unlisten(element, MEASURING, hear);
  return heard.length === points.length ? heard : null;
}
