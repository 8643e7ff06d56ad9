// Ends a drag that the browser began and its driver does not end: Firefox's fires no event when the button is released.

/** The drag that the page's user has begun, as its trusted events tell; null while there is none. */
let carried = null;

/** Hears the drag that is about to begin, in all windows of the cluster. */
function hearDrag() {
  carried?.leave();
  carried = { source: null, items: [], effect: 'move', over: null, taken: false, ended: false };
  const views = allDocuments().map((doc) => dom.window(doc));
  for (const view of views) for (const [type, hear] of DRAG_EVENTS) listen(view, type, hear);
  carried.leave = () => {
    for (const view of views) for (const [type, hear] of DRAG_EVENTS) unlisten(view, type, hear);
  };
}

/** After the page's own listeners, while what they have put into the transfer can still be read. */
function noteDragStart(event) {
  if (!event.isTrusted || event.defaultPrevented) return;
  [carried.source] = pathOf(event);
  carried.effect = /copy$|link$/.exec(event.dataTransfer.effectAllowed)?.[0] ?? 'move';
  for (const type of event.dataTransfer.types) {
    if (type !== 'Files') carried.items.push([type, event.dataTransfer.getData(type)]);
  }
}

/** A target takes what is dragged over it by preventing the default; Firefox's driver lets it begin without an effect. */
function noteDragOver(event) {
  if (!event.isTrusted) return;
  [carried.over] = pathOf(event);
  const { dropEffect } = event.dataTransfer;
  carried.taken = event.defaultPrevented;
  if (dropEffect !== 'none') carried.effect = dropEffect;
}

function noteDragEnd(event) {
  if (event.isTrusted) carried.ended = true;
}

const DRAG_EVENTS = [
  ['dragstart', noteDragStart], ['dragover', noteDragOver], ['drop', noteDragEnd], ['dragend', noteDragEnd],
];

/** dropped({point}): ends the drag at this point by events of ours; `untrusted` if there was one to end. */
function dropped({ point: [left, top] }) {
  const drag = carried && { ...carried, point: { left, top } };
  carried?.leave();
  carried = null;
  if (!drag?.source || drag.ended) return {};
  const taker = drag.over && takerOf(drag);
  if (taker && aim) aim.drop = taker;
  if (taker) fireDrag('drop', taker, drag);
  else if (drag.over) fireDrag('dragleave', drag.over, { ...drag, items: [] });
  fireDrag('dragend', drag.source, { ...drag, items: [], effect: taker ? drag.effect : 'none' });
  return { untrusted: true };
}

/**
 * The element that takes the drop, or null. The driver's events stay outside of frames and shadow roots, and happen in the
 * middle of an element.
 */
function takerOf(drag) {
  let target = elementAt(window.document, drag.point.left, drag.point.top);
  for (let inner = target; inner && isFrame(inner) && innerDocument(inner); target = inner ?? target) {
    inner = elementAt(innerDocument(inner), drag.point.left, drag.point.top);
  }
  if (!target) return null;
  const isKnown = target === drag.over;
  const isTaken = isKnown ? drag.taken : fireDrag('dragenter', target, { ...drag, items: [] });
  return fireDrag('dragover', target, { ...drag, items: [] }) || isTaken ? target : null;
}

/** Fires an event of a drag; true if its default was prevented. */
function fireDrag(type, target, { items, effect, point }) {
  const view = dom.window(dom.document(target));
  if (!view) return false;
  const dataTransfer = new view.DataTransfer();
  for (const [kind, data] of items) dataTransfer.setData(kind, data);
  dataTransfer.dropEffect = effect;
  const at = pointThrough(reversed(lensOf(dom.document(target))), point.left, point.top);
  const facts = { bubbles: true, composed: true, cancelable: true, view, dataTransfer, clientX: at.x, clientY: at.y };
  return !dispatch(target, new view.DragEvent(type, facts));
}
