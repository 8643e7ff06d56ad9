// Waits until an element can be acted on, and says where it is or what stands in the way.
const acting = { element: null, handle: null };

/** How near to ready a failure is: the nearest one is the one to report. */
const REASONS = ['hidden', 'not_editable', 'no_option', 'disabled', 'readonly', 'moving', 'covered'];
const no = (reason, detail) => ({ ok: false, reason, detail });
const TRIES = 20;

const KINDS = {
  password: 'password', checkbox: 'checkbox', radio: 'radio', file: 'file', range: 'range', color: 'color', date: 'date',
  time: 'date', month: 'date', week: 'date', 'datetime-local': 'date', button: 'button', submit: 'button',
  reset: 'button', image: 'button',
};

/** How an element is to be set. */
function kindOf(element) {
  const tag = inHtml(element) ? dom.tag(element) : '';
  if (tag === 'input') return isSecret(element) ? 'password' : KINDS[element.type] ?? 'text';
  if (tag === 'textarea' || tag === 'select' || tag === 'button') return tag;
  if (editingHostOf(element)) return 'contenteditable';
  return roleOf(element) === 'button' ? 'button' : 'other';
}

function editingHostOf(element) {
  if (!inHtml(element) || !dom.editable(element)) return null;
  for (let at = element; at; at = outer(at)) if (isEditingHost(at)) return at;
  return dom.body(dom.document(element));
}

/** What filling or checking a label or a part of an editor means: the control, the whole editor. */
function controlOf(element) {
  if (!inHtml(element)) return element;
  if (dom.tag(element) === 'label') return element.control ?? element;
  return kindOf(element) === 'contenteditable' ? editingHostOf(element) : element;
}

const CHECKS = {
  present: () => null,
  visible: refuseHidden,
  enabled: refuseUnusable,
  point: (element, wish) => refuseUnusable(element) ?? pointAt(element, wish),
  fill: refuseFill,
  focus: (element) => refuseUnusable(element) ?? refuseFocus(element),
};

function refuseHidden(element) {
  return isVisible(element) ? null : no('hidden', `${lineFor(element)} is not visible`);
}

function refuseDisabled(element) {
  return isDisabled(element) ? no('disabled', `${lineFor(element)} is disabled`) : null;
}

function refuseUnusable(element) {
  return refuseHidden(element) ?? refuseDisabled(element);
}

function refuseFocus(element) {
  dom.focus(element);
  for (const focused of focusedElements()) if (isWithin(focused, element)) return null;
  return no('not_editable', `${lineFor(element)} does not take the focus`);
}

function refuseFill(element, wish) {
  const kind = kindOf(element);
  if (kind === 'file') return refuseDisabled(element);
  const refused = refuseUnusable(element);
  if (refused) return refused;
  if (kind === 'checkbox' || kind === 'radio') return pointAt(element, wish);
  if (kind === 'button' || kind === 'other') return no('not_editable', `${lineFor(element)} takes no value`);
  if (isReadonly(element)) return no('readonly', `${lineFor(element)} is read-only`);
  if (kind === 'select') return refuseOption(element, wish) ?? refuseFocus(element);
  return refuseFocus(element) ?? selectContent(element, kind);
}

/** Selects all there is, so that what is typed replaces it. */
function selectContent(element, kind) {
  if (kind === 'contenteditable') dom.window(dom.document(element)).getSelection().selectAllChildren(element);
  else element.select();
  return null;
}

function refuseOption(select, wish) {
  if (wish.option === undefined || wish.option === null) return null;
  const options = [...select.options];
  let index = options.findIndex((option) => option.value === wish.option);
  if (index < 0) index = options.findIndex((option) => optionLabel(option) === normal(wish.option));
  if (index < 0) {
    const labels = options.slice(0, OPTIONS_SHOWN).map((option) => quoted(optionLabel(option))).join(', ');
    return no('no_option', `${lineFor(select)} has no option ${quoted(wish.option)}; it has ${labels || 'none'}`);
  }
  const name = `option ${quoted(optionLabel(options[index]))}`;
  if (isDisabled(options[index])) return no('disabled', `${name} is disabled`);
  const offered = options.filter(isOffered);
  const place = offered.indexOf(options[index]);
  if (place < 0) return no('hidden', `${name} is not visible`);
  wish.found.optionIndex = index;
  if (select.multiple || select.size > 1) return refuseUnseen(options[index], name, wish);
  wish.found.optionSteps = [place, offered.length - 1 - place];
  return null;
}

/** The point of an option that stands in the page. */
function refuseUnseen(option, name, wish) {
  dom.reveal(option, { block: 'nearest', behavior: 'instant' });
  wish.found.point = centre(visiblePart(option));
  return wish.found.point ? null : no('hidden', `${name} cannot be scrolled into view`);
}

/** True for an option that the keyboard stops at in the list of a select. */
function isOffered(option) {
  const group = dom.closest(option, 'optgroup');
  return !isDisabled(option) && [option, group].every((each) => !each || styleOf(each).display !== 'none');
}

/** One attempt on all matches: the first that can be acted on, else the failure nearest to it. */
async function tryMatches(wish) {
  const found = locate(wish.locator);
  const matches = found.length;
  if (!matches) return { ...no('not_found', `nothing matches ${describeLocator(wish.locator)}`), matches };
  if (wish.strict && matches > 1) return { ...no('ambiguous', `${matches} elements match`), matches, found };
  let nearest = null;
  for (const match of found.slice(0, TRIES)) {
    const element = wish.need === 'fill' ? controlOf(match) : match;
    wish.found = {};
    const failure = await CHECKS[wish.need](element, wish);
    if (!failure) return succeed(element, matches, wish);
    const nearer = !nearest || REASONS.indexOf(failure.reason) > REASONS.indexOf(nearest.reason);
    if (nearer) nearest = { ...failure, matches };
  }
  return nearest;
}

function succeed(element, matches, wish) {
  acting.element = element;
  acting.handle = wish.handle ? element : null;
  const role = roleOf(element);
  const { point, ...found } = wish.found;
  return {
    ok: true, ...placeOf(element, point), matches, ref: refOf(element), line: lineFor(element), role: role || 'generic',
    name: shown(nameOf(element, role)), tag: dom.tag(element), kind: kindOf(element), empty: !rawValue(element),
    checked: checkedOf(element), path: homePath(element), handle: wish.handle ? true : undefined, ...found,
  };
}

function placeOf(element, point) {
  const box = boxOf(element);
  const middle = point ?? centre(visiblePart(element, box)) ?? centre(box) ?? { x: 0, y: 0 };
  return { ...middle, width: Math.round(box.right - box.left), height: Math.round(box.bottom - box.top) };
}

/** ready({locator, need, slice, strict?, option?, force?, handle?}): `succeed` tells what it answers. */
async function ready(params) {
  const wish = { need: 'visible', ...params, found: {} };
  if (!Object.hasOwn(CHECKS, wish.need)) throw new Error(`there is no need ${wish.need}`);
  const isFinal = ({ ok, reason }) => ok || reason === 'ambiguous';
  const { found, ...answer } = await retry(wish.slice, () => tryMatches(wish), isFinal);
  if (answer.ok) return answer;
  const candidates = found ? found.slice(0, 5).map(lineFor) : answer.matches ? [] : candidatesFor(wish.locator);
  return { ...answer, candidates, frames: crossOriginFrames() };
}

/** verify({value}): does the element acted on last hold `value` now? */
function verify({ value }) {
  const { element } = acting;
  if (!element || !isLive(element)) return { same: false, gone: true, value: '', ...describePage() };
  return { same: holds(element, value), value: shown(valueOf(element)), checked: checkedOf(element), ...describePage() };
}

function holds(element, value) {
  if (typeof value === 'boolean') return checkedOf(element) === value;
  const wanted = `${value}`.replace(/\r\n?/g, '\n');
  const actual = rawValue(element) ?? '';
  if (dom.tag(element) === 'select') return element.value === wanted || actual === normal(wanted);
  return actual === wanted || (kindOf(element) === 'contenteditable' && normal(actual) === normal(wanted));
}
