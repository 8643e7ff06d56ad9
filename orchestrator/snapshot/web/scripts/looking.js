// Bounds the time for which the page is looked at without a pause: of a page that is too large a part is read, and told.
const ELEMENTS_BETWEEN = 16;
/** `limit` is in ms. */
const looking = { limit: 7500, end: Infinity, elements: 0, isOver: false, isCut: false };

function beginLook() {
  looking.end = now() + looking.limit;
  looking.isOver = false;
}

/** True once the look takes too long: asked before each element, it reads the clock at some of them. */
function isLookOver() {
  if (looking.isOver || (looking.elements += 1) % ELEMENTS_BETWEEN) return looking.isOver;
  looking.isOver = now() > looking.end;
  looking.isCut ||= looking.isOver;
  return looking.isOver;
}

/** The members of a list until the look is over. */
function* looked(list) {
  for (const each of list) {
    if (isLookOver()) return;
    yield each;
  }
}

/** True if a look ended early since the last answer, else undefined. */
function takeCut() {
  const isCut = looking.isCut || undefined;
  looking.isCut = false;
  return isCut;
}
