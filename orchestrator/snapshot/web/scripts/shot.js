// Geometry for screenshots: the viewport, an element in view, and the boxes of elements that can be acted on.

const viewFacts = () => ({
  view: [window.innerWidth, window.innerHeight], scroll: [window.scrollX, window.scrollY], ratio: window.devicePixelRatio,
});

/** The viewport, once it was drawn twice: a frame of another origin draws nothing until it is visible. */
async function viewed() {
  await frame();
  await frame();
  return { ok: true, ...viewFacts(), ...describePage() };
}

/** shot({locator?, slice}): scrolls the first visible match into view; its box and the visible part of it. */
async function shot({ locator, slice }) {
  if (!locator) return viewed();
  const answer = await intoView({ locator, slice, handle: true });
  if (!answer.ok) return answer;
  await frame();
  const { element } = acting;
  return { ...answer, box: boxOf(element), part: shownPart(element), ...viewFacts(), ...describePage() };
}

/** marked(): the visible part of each element that can be acted on, by ref, and the frames of other origins. */
function marked() {
  const { entries, frames } = survey();
  const isMarked = (role) => role === 'clickable' || (role !== 'iframe' && INTERACTIVE_ROLES.has(role));
  const marks = entries.filter(({ hasRef, role }) => hasRef && isMarked(role))
    .map(({ element }) => ({ ref: refOf(element), box: shownPart(seenOf(element)) })).filter(({ box }) => hasArea(box));
  return { marks, frames: frames.map(({ element }) => ({ path: pathTo(element), ref: refOf(element) })) };
}
