// Boxes and visibility of elements, in coordinates of the viewport of the cluster's root.
const intersect = (a, b) => ({
  left: Math.max(a.left, b.left),
  top: Math.max(a.top, b.top),
  right: Math.min(a.right, b.right),
  bottom: Math.min(a.bottom, b.bottom),
});
const hasArea = (box) => box.right > box.left && box.bottom > box.top;
const contains = (a, b) => a.left <= b.left && a.top <= b.top && a.right >= b.right && a.bottom >= b.bottom;

/**
 * outwards({path, point?, aim?}): the map from coordinates inside a frame to those around it, and the visible part of
 * the frame; why a pointer does not reach the frame at a point inside it, which the frame's own page cannot be asked.
 */
function outwards({ path, point, aim: kind }) {
  const frame = frameAt(path);
  if (!frame) throw new Refusal('not_found', 'the frame is gone');
  const lens = lensInto(frame, lensOf(dom.document(frame)));
  return { lens, part: shownPart(frame), obstacle: point ? obstacleAt(frame, lens, point, kind) : undefined };
}

function obstacleAt(frame, lens, [x, y], kind) {
  const at = floored(pointThrough(lens, x, y));
  const part = visiblePart(frame);
  if (at.x < Math.floor(part.left) || at.x > part.right || at.y < Math.floor(part.top) || at.y > part.bottom) {
    return `the point is outside the visible part of ${lineFor(frame)}`;
  }
  const hit = hitAt(frame, at);
  if (reaches(hit, frame)) {
    if (kind) aimAt(frame, at, kind, hit);
    return undefined;
  }
  return hit ? `covered by ${lineFor(coverOf(hit, frame))}` : `${lineFor(frame)} is out of view`;
}

const viewportOf = (doc) => {
  const view = dom.window(doc);
  return { left: 0, top: 0, right: view.innerWidth, bottom: view.innerHeight };
};

/** The box in the element's own document; with `display: contents` that of its content. */
function ownBox(element, style = styleOf(element)) {
  if (style.display === 'none' && isArea(element)) return areaBox(element);
  if (style.display !== 'contents') return dom.box(element);
  const range = dom.range(dom.document(element));
  range.selectNodeContents(element);
  return range.getBoundingClientRect();
}

const boxOf = (element) => through(lensOf(dom.document(element)), ownBox(element));

/** One axis suffices: if overflow of the other is not visible, it is not visible on this one either, except with `clip`. */
const clips = (style) => style.overflowX !== 'visible';
const isPage = (tag) => tag === 'html' || tag === 'body';

/** The part of `element` that neither a viewport nor an ancestor with hidden or scrolled overflow cuts off. */
function visiblePart(element, box = boxOf(element), isBounded = true) {
  const image = isArea(element) ? pictureOf(element) : null;
  if (image) return intersect(box, visiblePart(image, boxOf(image), isBounded));
  let part = box;
  for (let doc = dom.document(element), inner = element; doc; ) {
    const lens = lensOf(doc);
    if (isBounded || doc !== window.document || window.parent !== window) part = intersect(part, through(lens, viewportOf(doc)));
    let free = styleOf(inner).position;
    for (let at = outer(inner); at && free !== 'fixed'; at = outer(at)) {
      const style = styleOf(at);
      const holds = free !== 'absolute' || style.position !== 'static' || style.transform !== 'none';
      if (!holds) continue;
      if (clips(style) && !isPage(dom.tag(at))) part = intersect(part, through(lens, dom.box(at)));
      free = style.position;
    }
    inner = frameOf(doc);
    doc = inner && dom.document(inner);
  }
  return part;
}

/** The same without the viewport of the page: the part that can be seen once the page is scrolled. */
const shownPart = (element) => visiblePart(element, boxOf(element), false);

/** True if `element` is rendered with a size, and no ancestor hides it. */
function isVisible(element) {
  if (!isLive(element)) return false;
  const style = styleOf(element);
  if (style.visibility !== 'visible') return false;
  if (/^(option|optgroup)$/.test(dom.tag(element))) return isVisible(dom.closest(element, 'select,datalist') ?? dom.parent(element));
  if (style.display === 'contents') {
    for (let at = outer(element); at; at = outer(at)) if (styleOf(at).display === 'none') return false;
  } else if (!dom.rendered(element)) return isArea(element) ? hasArea(areaBox(element)) : isDrawn(element);
  const frame = frameOf(dom.document(element));
  if (frame && !isVisible(frame)) return false;
  const box = ownBox(element, style);
  return (box.width > 0 && box.height > 0) || (!clips(style) && spills(element));
}

/** True for a control in the content of a canvas that can be seen: it has no box, and takes the focus. */
function isDrawn(element) {
  const canvas = dom.closest(element, 'canvas');
  return canvas !== null && canvas !== element && canFocus(element) && styleOf(element).display !== 'none' && isVisible(canvas);
}

/** True if a box without a size contains one with a size, as a link with a floated image does. */
function spills(element) {
  for (const child of innerNodes(element)) {
    if (dom.type(child) !== ELEMENT) continue;
    const box = dom.box(child);
    if (box.width > 0 && box.height > 0) return styleOf(child).visibility === 'visible';
  }
  return false;
}

/** The deepest element at a point of the root's viewport, as seen from the document `doc`. */
function elementAt(doc, x, y) {
  const inside = pointThrough(reversed(lensOf(doc)), x, y);
  if (!isFinite(inside.x) || !isFinite(inside.y)) return null;
  let hit = hitIn[DOCUMENT](doc, inside.x, inside.y);
  for (let shadow = hit && dom.shadow(hit); shadow; shadow = dom.shadow(hit)) {
    const deeper = hitIn[FRAGMENT](shadow, inside.x, inside.y);
    if (!deeper || deeper === hit) break;
    hit = deeper;
  }
  return hit;
}

/** True if `node` is `element` or inside it, through slots and shadow roots. */
function isWithin(node, element) {
  for (let at = node; at; at = outer(at)) if (at === element) return true;
  for (let at = node; at; at = dom.parent(at) ?? at.host ?? null) if (at === element) return true;
  return false;
}
