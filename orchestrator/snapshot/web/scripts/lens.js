// Maps points and boxes of a frame, or of a picture, into the document around it, however styles scale, turn or skew it.

/** The map from a document's coordinates to the root's: x' = a x + c y + e, y' = b x + d y + f, as in CSS `matrix()`. */
const ROOT_LENS = { a: 1, b: 0, c: 0, d: 1, e: 0, f: 0 };
const Matrix = window.DOMMatrix;

/** The lens into what an element shows inside its border and padding, by the lens of its own document. */
function lensInto(element, lens) {
  const box = dom.box(element);
  const style = styleOf(element);
  const [width, height] = [dom.layoutWidth(element), dom.layoutHeight(element)];
  const turn = turnOf(element);
  // The box tells by how much all of it is larger, such as by `zoom`; the middle is where it was without any transform.
  const wide = Math.abs(turn.a) * width + Math.abs(turn.c) * height;
  const high = Math.abs(turn.b) * width + Math.abs(turn.d) * height;
  const [across, down] = [wide ? box.width / wide : 1, high ? box.height / high : 1];
  const inner = { a: turn.a * across, b: turn.b * down, c: turn.c * across, d: turn.d * down, e: 0, f: 0 };
  const [left, top] = [dom.clientLeft(element) + parseFloat(style.paddingLeft), dom.clientTop(element) + parseFloat(style.paddingTop)];
  const corner = pointThrough(inner, left - width / 2, top - height / 2);
  inner.e = box.left + box.width / 2 + corner.x;
  inner.f = box.top + box.height / 2 + corner.y;
  return combined(lens, inner);
}

function lensOf(doc) {
  const frame = frameOf(doc);
  return frame ? lensInto(frame, lensOf(dom.document(frame))) : ROOT_LENS;
}

const combined = (around, inner) => {
  const { x: e, y: f } = pointThrough(around, inner.e, inner.f);
  return {
    a: around.a * inner.a + around.c * inner.b, b: around.b * inner.a + around.d * inner.b,
    c: around.a * inner.c + around.c * inner.d, d: around.b * inner.c + around.d * inner.d, e, f,
  };
};

/** How the styles of an element and of those around it turn, mirror and skew it, without what moves and enlarges it. */
const turnOf = onceATurn((element) => {
  let turn = ROOT_LENS;
  for (let at = element; at; at = outerIn(at)) {
    const style = styleOf(at);
    for (const part of [style.transform, turnedBy(style.rotate), scaledBy(style.scale)]) {
      if (part && part !== 'none') turn = combined(linear(part), turn);
    }
  }
  return turn;
});

/** The element around one in its document, through slots and shadow roots. */
const outerIn = (element) => {
  const around = outer(element);
  return around && dom.document(around) === dom.document(element) ? around : null;
};

const turnedBy = (rotate) => (/^-?[\d.]+(?:deg|rad|grad|turn)$/.test(rotate ?? '') ? `rotate(${rotate})` : '');
const scaledBy = (scale) => (scale && scale !== 'none' ? `scale(${scale.split(' ').slice(0, 2).join(',')})` : '');

function linear(transform) {
  const { a, b, c, d } = new Matrix(transform);
  return { a, b, c, d, e: 0, f: 0 };
}

const pointThrough = ({ a, b, c, d, e, f }, x, y) => ({ x: a * x + c * y + e, y: b * x + d * y + f });

/** The point inside that is shown at a point outside. */
function pointBehind({ a, b, c, d, e, f }, x, y) {
  const area = a * d - b * c;
  return { x: (d * (x - e) - c * (y - f)) / area, y: (a * (y - f) - b * (x - e)) / area };
}

/** The area outside that a square pixel inside takes. */
const enlargement = ({ a, b, c, d }) => Math.abs(a * d - b * c);

/** The box around what a box inside becomes outside. */
function through(lens, { left, top, right, bottom }) {
  if (lens === ROOT_LENS) return { left, top, right, bottom };
  const corners = [[left, top], [right, top], [left, bottom], [right, bottom]].map(([x, y]) => pointThrough(lens, x, y));
  const [across, down] = [corners.map(({ x }) => x), corners.map(({ y }) => y)];
  return { left: Math.min(...across), top: Math.min(...down), right: Math.max(...across), bottom: Math.max(...down) };
}
