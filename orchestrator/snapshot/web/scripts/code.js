// Codes that a page takes in boxes of one character each, where it moves the focus on from one box to the next.
/** The boxes of the code being typed, the one that gets the next key, and the number of those that the page left alone. */
const code = { group: null, boxes: [], first: 0, at: -1, until: 0, isLed: false, guarded: [] };
/** Ms after which a key no longer is one of ours. */
const KEY_LASTS = 1000;
const ONE_CHARACTER = /^\^?(?:\\d|\[0-9\]|\[\\d\])(?:\{1\})?\$?$/;
/** What holds one question of a form: the boxes of another one are another code. */
const CODE_BOUNDS = 'fieldset,form,dialog,[role~="group"],[role~="dialog"],[role~="form"]';

/** True for a field that takes one character. */
function isCodeBox(element) {
  if (!inHtml(element) || dom.tag(element) !== 'input' || !TEXT_KINDS.has(kindOf(element))) return false;
  const isOne = (name) => Number(attribute(element, name)) === 1;
  return isOne('maxlength') || isOne('size') || ONE_CHARACTER.test(attribute(element, 'pattern') ?? '');
}

/** The visible fields for text in an element, in its own document. */
const codeFieldsIn = (element) => fieldsIn(element)
  .filter((field) => dom.document(field) === dom.document(element) && !isUnseen(field));

/** The element around a box that holds the boxes of its code and no other field; null for a field that is alone. */
function codeGroupOf(box) {
  let group = null;
  for (let at = isCodeBox(box) ? outer(box) : null; at && dom.tag(at) !== 'html'; at = outer(at)) {
    const fields = codeFieldsIn(at);
    if (!fields.every(isCodeBox)) break;
    if (fields.length > 1) group = at;
    if (group && dom.matches(at, CODE_BOUNDS)) break;
  }
  return group;
}

/** The first box of an element that holds the boxes of one code and no other field, or null. */
function firstBoxIn(element) {
  const fields = codeFieldsIn(element);
  return fields.length > 1 && fields.every(isCodeBox) ? fields[0] : null;
}

/** True if a value is a code that begins in this box and goes on in those beside it. */
const isCodeFor = (box, value) => value.length > 1 && codeGroupOf(box) !== null;

function beginCode(box, isSecretCode) {
  code.group = box && codeGroupOf(box);
  code.boxes = code.group ? codeFieldsIn(code.group) : [];
  code.first = code.boxes.indexOf(box);
  code.at = code.first - 1;
  code.isLed = false;
  if (isSecretCode) for (const each of code.boxes) secrets.add(each);
}

/**
 * codeBox({slice, begins?, acted?, secret?, leads?, at?}): waits until the page has moved the focus to a further box of the
 * code, which then gets the next key; no other field does. With `leads` a box gets the focus from us where the page does
 * not move it; `at` is the place of that box. `begins` with the field in focus or, with `acted`, the one acted on last.
 */
async function codeBox({ slice, begins, acted, secret, leads, at }) {
  if (begins) beginCode(acted ? acting.element : fieldInFocus(), secret);
  const wanted = at === undefined ? undefined : code.first + at;
  const waits = begins || (leads && code.isLed) ? 0 : slice;
  let found = await retry(waits, () => boxInFocus(wanted), ({ ok, elsewhere, gone }) => ok || gone || (elsewhere && !leads));
  if (!found.ok && !found.gone && leads) {
    if (!begins) code.isLed = true;
    found = focusBox(wanted ?? code.at + 1);
  }
  if (found.ok) expectKey(found.place, leads);
  return { ok: found.ok, gone: found.gone, elsewhere: found.elsewhere, room: code.boxes.length - code.first };
}

function boxInFocus(wanted) {
  const { group } = code;
  if (!group || !isLive(group)) return { ok: false, gone: true };
  // A page may draw its boxes anew after each key.
  code.boxes = codeFieldsIn(group);
  const focused = focusedElements();
  const place = code.boxes.findIndex((box) => focused.has(box));
  if (wanted === undefined ? place > code.at : place === wanted) return { ok: true, place };
  const last = [...focused].pop();
  const isElsewhere = last && place < 0 && !isPage(dom.tag(last));
  return { ok: false, elsewhere: isElsewhere ? lineFor(last) : undefined };
}

function focusBox(place) {
  const box = code.boxes[place];
  if (!box) return { ok: false };
  dom.focus(box);
  return focusedElements().has(box) ? { ok: true, place } : { ok: false };
}

/** Lets the next key reach the boxes alone; with `replaces` it replaces what the box holds. */
function expectKey(place, replaces) {
  code.at = place;
  code.until = now() + KEY_LASTS;
  if (replaces) selectContent(code.boxes[place], kindOf(code.boxes[place]));
  const views = allDocuments().map(dom.window);
  for (const view of views.filter((each) => !code.guarded.includes(each))) {
    for (const type of KEY_EVENTS) listen(view, type, keepToBoxes, capturing);
  }
  code.guarded = views;
}

const KEY_EVENTS = ['keydown', 'keypress', 'beforeinput'];

function keepToBoxes(event) {
  if (!event.isTrusted || now() > code.until || code.boxes.includes(pathOf(event)[0])) return;
  stop(event);
  prevent(event);
}

/**
 * codeHeld({value, slice}): waits until the boxes hold the code; `arrived` counts the characters that are there, `wrong` is
 * the place of the first that is not. `gone` once the page has taken the code and the boxes away.
 */
async function codeHeld({ value, slice }) {
  const answer = await retry(slice, () => heldInBoxes([...value]), ({ same, gone }) => same || gone);
  for (const view of code.guarded) for (const type of KEY_EVENTS) unlisten(view, type, keepToBoxes, capturing);
  code.guarded = [];
  return { ...answer, ...describePage() };
}

function heldInBoxes(chars) {
  const { group, first } = code;
  if (!group || !isLive(group)) return { same: false, gone: true, value: '', arrived: 0 };
  code.boxes = codeFieldsIn(group);
  const held = code.boxes.slice(first, first + chars.length).map((box) => box.value);
  const isThere = (char, place) => lower(held[place] ?? '') === lower(char);
  const wrong = chars.findIndex((char, place) => !isThere(char, place));
  const last = [...focusedElements()].pop();
  return {
    same: wrong < 0, value: shown(code.boxes.some(isSecret) ? MASK : held.join('')), arrived: chars.filter(isThere).length,
    wrong: wrong < 0 || wrong >= held.length ? undefined : wrong, line: last && !isPage(dom.tag(last)) ? lineFor(last) : undefined,
  };
}
