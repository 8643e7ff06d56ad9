// Tells where things are for pictures: an element that is to be shown, and the boxes of what can be acted on.

const viewFacts = () => ({
  view: [window.innerWidth, window.innerHeight], scroll: [window.scrollX, window.scrollY], ratio: window.devicePixelRatio,
});

/** The page as it is, once it was drawn twice: a frame of another origin draws nothing until it is seen. */
async function viewed() {
  await frame();
  await frame();
  return { ok: true, ...viewFacts(), ...describePage() };
}

/** shot({locator?, slice}): brings the first visible match into view; its box, and what of it can be seen. */
async function shot({ locator, slice }) {
  if (!locator) return viewed();
  const answer = await intoView({ locator, slice, handle: true });
  if (!answer.ok) return answer;
  await frame();
  const { element } = acting;
  return { ...answer, box: boxOf(element), part: shownPart(element), ...viewFacts(), ...describePage() };
}

/** marked(): the part of each element that can be acted on which is not cut off, by ref, and the frames to ask. */
function marked() {
  const { entries, frames } = survey();
  const isMarked = (role) => role === 'clickable' || (role !== 'iframe' && INTERACTIVE_ROLES.has(role));
  const marks = entries.filter(({ hasRef, role }) => hasRef && isMarked(role))
    .map(({ element }) => ({ ref: refOf(element), box: shownPart(seenOf(element)) })).filter(({ box }) => hasArea(box));
  return { marks, frames: frames.map(({ element }) => ({ path: pathTo(element), ref: refOf(element) })) };
}
