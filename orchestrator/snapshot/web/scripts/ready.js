// Waits until an element can be acted on; answers where it is, or what is in the way.
const acting = { element: null, field: null, handle: null, wanted: null, editor: null };

/** Reasons from far to near: of several failures the one nearest to ready is reported. */
const REASONS = [
  'not_a_frame', 'no_field', 'drawn', 'hidden', 'not_editable', 'not_select', 'no_file_input', 'is_file', 'no_option', 'several_options', 'disabled', 'readonly',
  'starting', 'moving', 'covered', 'bad_value',
];
/** Reasons that no waiting changes; `no_field` only if it is that of every match. */
const FINAL = new Set(['is_file', 'bad_value', 'no_field', 'drawn']);
const no = (reason, detail) => ({ ok: false, reason, detail });
const TRIES = 20;

const KINDS = {
  password: 'password', checkbox: 'checkbox', radio: 'radio', file: 'file', range: 'range', color: 'color', date: 'date',
  time: 'date', month: 'date', week: 'date', 'datetime-local': 'date', button: 'button', submit: 'button',
  reset: 'button', image: 'button',
};
const ROLE_KINDS = {
  checkbox: 'checkbox', switch: 'checkbox', menuitemcheckbox: 'checkbox', radio: 'radio', menuitemradio: 'radio',
  slider: 'slider', spinbutton: 'slider', button: 'button',
};

/** The kind of control that an element is. */
function kindOf(element) {
  const tag = inHtml(element) ? dom.tag(element) : '';
  if (tag === 'input') return isSecret(element) ? 'password' : KINDS[element.type] ?? 'text';
  if (tag === 'textarea' || tag === 'select' || tag === 'button') return tag;
  if (editingHostOf(element)) return 'contenteditable';
  return ROLE_KINDS[roleOf(element)] ?? 'other';
}

function editingHostOf(element) {
  if (!inHtml(element) || !dom.editable(element)) return null;
  for (let at = element; at; at = outer(at)) if (isEditingHost(at)) return at;
  return dom.body(dom.document(element));
}

/** The control of a label, the whole editor of its part; else the element itself. */
function controlOf(element) {
  if (!inHtml(element)) return element;
  if (dom.tag(element) === 'label') return element.control ?? element;
  return kindOf(element) === 'contenteditable' ? editingHostOf(element) : element;
}

/** The element to act on: the match, or the control that it stands for. */
function actedOn(match, { need, value }) {
  if (need === 'files') return fileInputOf(match) ?? match;
  if (need !== 'fill' && need !== 'options') return match;
  const control = controlOf(match);
  const chooser = chooserOf(control);
  if (chooser) return chooser;
  if (need === 'options') return control;
  const kind = kindOf(control);
  if (kind === 'other') return soleFieldIn(control) ?? firstBoxIn(control) ?? control;
  return kind === 'radio' ? radioFor(control, value) : control;
}

const CHECKS = {
  present: () => null,
  frame: (element) => (isFrame(element) ? null : no('not_a_frame', `${lineFor(element)} is not a frame`)),
  visible: refuseHidden,
  enabled: refuseUnusable,
  point: refusePoint,
  fill: refuseFill,
  options: (element, request) => refuseOptions(element, request),
  files: (element, request) => refuseFiles(element, request),
  focus: (element, request) => {
    request.found.code = codeGroupOf(element) !== null ? true : undefined;
    return refuseUnusable(element) ?? refuseFocus(element);
  },
};

function refuseHidden(element) {
  return isVisible(element) ? null : no('hidden', `${lineFor(element)} is not visible`);
}

function refuseDisabled(element) {
  return isDisabled(element) ? no('disabled', `${lineFor(element)} is disabled`) : null;
}

/** TinyMCE's frame takes keys before it has got its content, which then replaces what was typed. */
function refuseStarting(element) {
  if (!dom.matches(element, 'body.mce-content-body')) return null;
  const first = dom.firstElement(element);
  return !first || dom.matches(first, 'br:only-child')
    ? no('starting', `${lineFor(element)} belongs to an editor that is still starting`) : null;
}

function refuseUnusable(element) {
  return refuseHidden(element) ?? refuseDisabled(element) ?? refuseStarting(element);
}

function refusePoint(element, request) {
  const seen = seenOf(element);
  return refuseHidden(seen) ?? refuseDisabled(element) ?? (isDrawn(seen)
    ? no('drawn', `${lineFor(seen)} is part of a drawing and has no place of its own`) : pointAt(seen, request));
}

function refuseFocus(element) {
  dom.focus(element);
  for (const focused of focusedElements()) if (isWithin(focused, element)) return null;
  return no('not_editable', `${lineFor(element)} does not take the focus`);
}

function refuseFill(element, request) {
  if (isCombobox(element) || isListBox(element)) return refuseChoice(element, request);
  const kind = kindOf(element);
  if (kind === 'checkbox' || kind === 'radio') return refuseCheck(element, request, kind);
  if (kind === 'file') return no('is_file', `${lineFor(element)} holds files`);
  const refused = refuseUnusable(element);
  if (refused) return refused;
  if (kind === 'other' && editorOf(element)) {
    request.found.kind = 'editor';
    return pointAt(element, request);
  }
  if (kind === 'button' || kind === 'other') {
    return no(isMounting(element) ? 'not_editable' : 'no_field', `${lineFor(element)} takes no value`);
  }
  if (isReadonly(element)) return no('readonly', `${lineFor(element)} is read-only`);
  if (isCodeFor(element, request.value)) {
    request.found.kind = 'code';
    request.found.secret = isSecret(element);
    return refuseFocus(element);
  }
  return Object.hasOwn(FILLS, kind) ? FILLS[kind](element, request) : refuseFocus(element) ?? beginTyping(element, kind, request);
}

const FILLS = {
  select: (select, request) => refuseOption(select, request, request.value) ?? refuseFocus(select),
  date: (element, request) => refuseDate(element, request),
  color: (element, request) => refuseDate(element, request),
  range: (element, request) => refuseRange(element, request),
  slider: (element, request) => refuseSlider(element, request),
};

/** True for an element that may still become a field, or the place of one. */
const isMounting = (element) => dom.readyState(dom.document(element)) !== 'complete' || !dom.matches(element, ':defined') ||
  (kindOf(element) === 'other' && !roleOf(element) && !normal(textOf(element)) && dom.firstElement(element) === null);

/**
 * Selects what the value is to replace. With `inserts` it is inserted at once, unless it has to be masked first: after a
 * turn of the page, which may do something when a field gets the focus.
 */
async function beginTyping(element, kind, request) {
  selectContent(element, kind);
  if (!request.inserts || kind === 'password') return null;
  await pause(0);
  request.found.inserted = inserted(request).taken;
  return null;
}

/** Selects the whole content, so that typing replaces it. */
function selectContent(element, kind) {
  if (kind === 'contenteditable') dom.window(dom.document(element)).getSelection().selectAllChildren(element);
  else element.select();
  return null;
}

/** Tries all matches once: the first that can be acted on, else the failure nearest to ready. */
async function tryMatches(request) {
  const found = locate(request.locator);
  const matches = found.length;
  if (!matches) return { ...no('not_found', `nothing matches ${describeLocator(request.locator)}`), matches };
  if (request.locator.by === 'ref' && isAct(request)) mustBeAsTold(found[0], request.locator.value);
  let nearest = null;
  for (const match of found.slice(0, TRIES)) {
    const element = actedOn(match, request);
    request.found = {};
    const failure = await CHECKS[request.need](element, request);
    if (!failure) return succeed(match, element, matches, request);
    const nearer = !nearest || REASONS.indexOf(failure.reason) > REASONS.indexOf(nearest.reason);
    if (nearer) nearest = { ...failure, matches };
  }
  return nearest;
}

const isAct = ({ need }) => need !== 'present' && need !== 'frame';

function succeed(match, element, matches, request) {
  acting.element = element;
  if (isField(element)) acting.field = element;
  hearRefusals(dom.root(element));
  acting.handle = request.handle ? element : null;
  const role = roleOf(element);
  const { point, ...found } = request.found;
  const line = lineOfFound(element, request);
  if (isAct(request)) for (const each of new Set([match, element])) noteAct(each);
  return {
    ok: true, origin: window.location.origin, ...placeOf(element, point), matches, ref: refOf(element), line, role: role || 'generic',
    name: shown(nameOf(element, role)), tag: dom.tag(element), kind: kindOf(element), empty: !rawValue(element),
    checked: checkedOf(element), path: homePath(element), handle: request.handle ? true : undefined, loose: element === loose || undefined,
    ...found,
  };
}

/** The line, which is told only for a ref: only then does the result of an act name the element. */
function lineOfFound(element, { locator }) {
  return locator.by === 'ref' ? lineFor(element) : lineOf(entryFor(element), focusedElements(), refOf(element));
}

function placeOf(element, point) {
  const box = boxOf(element);
  const middle = point ?? centre(visiblePart(element, box)) ?? centre(box) ?? { x: 0, y: 0 };
  return { ...middle, width: Math.round(box.right - box.left), height: Math.round(box.bottom - box.top) };
}

/** As `tryMatches`, with a refusal of the search that is about the role of an element. */
async function attempted(request) {
  try {
    return await tryMatches(request);
  } catch (error) {
    if (!error.answer?.isRole) throw error;
    return error.answer;
  }
}

/** ready({locator, need, slice, again?, patient?, value?, inserts?, values?, files?, force?, handle?, aim?, rest?, stay?}): the answer is that of `succeed`, or a failure. */
async function ready(params) {
  const request = { need: 'visible', value: '', ...params, found: {} };
  if (!Object.hasOwn(CHECKS, request.need)) throw new Error(`there is no need ${request.need}`);
  if (!request.again) beginRefusals();
  const isDone = (each) => each.ok || FINAL.has(each.reason) || (isSettled(each) && !request.patient);
  const answer = await retry(request.slice, () => attempted(request), isDone);
  if (answer.ok) return answer;
  if (answer.isRole) return { ...answer, frames: crossOriginFrames(request.locator) };
  const frames = answer.matches ? undefined : crossOriginFrames(request.locator);
  return { ...answer, candidates: answer.matches ? [] : candidatesFor(request.locator), frames };
}

/** verify({value?}): `same` if the element acted on last holds `value`, or what was wanted of it. */
function verify({ value = acting.wanted }) {
  const { element } = acting;
  if (!element || !isLive(element)) return { same: false, gone: true, value: '', ...describePage() };
  const same = holds(element, value);
  const elsewhere = same ? undefined : focusBeside(element);
  return { same, value: shown(heldText(element)), checked: checkedOf(element), elsewhere, ...describePage() };
}

/** The line of the focused element, if that is neither in the element nor around it. */
function focusBeside(element) {
  const focused = [...focusedElements()].pop();
  return focused && !isWithin(focused, element) && !isWithin(element, focused) ? lineFor(focused) : undefined;
}

/** The value of an element as it may be shown; for a toggle its state. */
function heldText(element) {
  const checked = checkedOf(element);
  return checked === null ? valueOf(element) : `${checked}`;
}

function holds(element, value) {
  if (typeof value === 'boolean') return checkedOf(element) === value;
  const wanted = `${value}`.replace(/\r\n?/g, '\n');
  const kind = kindOf(element);
  if (kind === 'date' || kind === 'color') return element.value === heldBy(element, wanted);
  if (kind === 'range' || kind === 'slider') return isAt(element, wanted);
  const actual = rawValue(element) ?? '';
  if (dom.tag(element) === 'select') return element.value === wanted || actual === normal(wanted);
  return actual === wanted || (kind === 'contenteditable' && normal(actual) === normal(wanted));
}
