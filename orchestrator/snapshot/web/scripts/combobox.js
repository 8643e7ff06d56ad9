// Comboboxes and list boxes that a page made of its own elements: finds the list, and the option of a name in it.
const LIST_ROLES = '[role~="listbox"],[role~="tree"],[role~="grid"],[role~="treegrid"],[role~="menu"]';
const CHOICES = `[role~="option"],[role~="treeitem"],[role~="gridcell"],[role~="row"],[role~="menuitem"],
  [role~="menuitemradio"],[role~="menuitemcheckbox"]`;
const NO_LIST = /^(dialog|false)$/;
const WRAPPERS_AROUND = 4;
const LIST_STEPS = 200;
const LIST_STEP = 0.9;
/** Ms for a search through a list that draws only the options in view: it takes two frames a step, which can be slow. */
const LONGEST_SEARCH = 15000;

/**
 * The combobox or list box acted on, its text field, and the lists and requests that were there before it was opened; the
 * option that is wanted, its names and those of the others, and what the combobox showed before it was clicked.
 */
const choosing = {
  element: null, field: null, before: new Set(), requests: new WeakMap(), wanted: '', names: new Set(), others: new Set(),
  shown: '', still: null,
};

/** True for a combobox of the page's own making, also as a list box in an input, or a button that opens a list box. */
function isCombobox(element) {
  if (!inHtml(element) || NO_LIST.test(attribute(element, 'aria-haspopup') ?? '')) return false;
  const tag = dom.tag(element);
  const role = roleOf(element);
  if (tag === 'select' || (tag === 'input' && !TEXT_KINDS.has(kindOf(element)))) return false;
  if (role === 'combobox') return !(dom.has(element, 'list') && listOf(element));
  if (role === 'listbox') return tag === 'input';
  return role === 'button' && attribute(element, 'aria-haspopup') === 'listbox';
}

const isListBox = (element) => inHtml(element) && dom.tag(element) !== 'select' && roleOf(element) === 'listbox' && !isCombobox(element);

/** The combobox or list box that a match stands for: itself, the one around this field, or the only one in it. */
function chooserOf(match) {
  if (isCombobox(match) || isListBox(match)) return match;
  const around = dom.closest(match, '[role~="combobox"]');
  if (around && isCombobox(around)) return around;
  if (kindOf(match) !== 'other') return null;
  const inside = everywhere(match, '[role~="combobox"],input[role~="listbox"],[aria-haspopup="listbox"]')
    .filter((each) => isCombobox(each) && isVisible(each));
  return inside.length === 1 ? inside[0] : null;
}

/** The text field of a combobox that takes typing, or null. */
function fieldOfCombobox(combobox) {
  const field = TEXT_KINDS.has(kindOf(combobox)) ? combobox : soleFieldIn(combobox);
  return field && !isReadonly(field) && !isDisabled(field) ? field : null;
}

/** A field whose text is wanted as it is typed: suggestions are no choices there. */
const isSearchField = (field) =>
  field.type === 'search' || dom.closest(field, 'search,[role="search"]') !== null;

/** Prepares a choice by name; null once `request.found` says how to open the list. */
async function refuseChoice(element, request) {
  const refused = refuseUnusable(element);
  if (refused) return refused;
  if (isReadonly(element) && isListBox(element)) return no('readonly', `${lineFor(element)} is read-only`);
  const field = isListBox(element) ? null : fieldOfCombobox(element);
  choosing.element = element;
  choosing.field = field;
  choosing.wanted = '';
  choosing.requests = new WeakMap(allDocuments().map((doc) => [doc, requestsOf(dom.window(doc)).last]));
  choosing.before = new Set();
  const list = listOfChooser();
  choosing.before = new Set(visibleLists().filter((each) => each !== list));
  request.found.kind = 'combobox';
  request.found.open = list !== null;
  request.found.editable = field !== null;
  const unreached = isListBox(element) ? null : await pointOnWrapper(element, request);
  if (field === null || request.need !== 'fill') return unreached;
  const unfocused = refuseFocus(field);
  if (unfocused) return unfocused;
  if (isSearchField(field)) request.found.kind = 'text';
  return selectContent(field, kindOf(field));
}

/** Sets the point of a combobox; where its own part is covered, that of the box drawn around it alone. */
async function pointOnWrapper(element, request) {
  let first = null;
  for (let at = element, up = 0; at && up <= WRAPPERS_AROUND && !isPage(dom.tag(at)); at = outer(at), up += 1) {
    if (at !== element && everywhere(at, FURTHER_CONTROLS).some((each) => isVisible(each) && !isWithin(each, element))) break;
    const refused = await pointAt(at, request);
    if (!refused) return null;
    first ??= refused;
  }
  return first;
}

/** Controls beside a combobox that people reach, unlike the hidden fields that hold its value for a form. */
const FURTHER_CONTROLS = `[role~="combobox"],input:not([type=hidden],[aria-hidden="true"],[tabindex="-1"]),
  select:not([aria-hidden="true"]),textarea:not([aria-hidden="true"],[tabindex="-1"])`;

// The list

const visibleLists = () => everywhere(window.document, LIST_ROLES).filter(isVisible);

/** The elements whose ids an attribute of the combobox or its field names. */
function* controlledBy(names) {
  for (const holder of new Set([choosing.field, choosing.element])) {
    if (!holder) continue;
    for (const name of names) {
      for (const id of (attribute(holder, name) ?? '').split(/\s+/)) {
        const found = id ? sibling(holder, id) ?? sibling(dom.html(dom.document(holder)), id) : null;
        if (found) yield found;
      }
    }
  }
}

/** The open list: the one that ARIA names, else the last one that was not there before; null if there is none. */
function listOfChooser() {
  const { element, before } = choosing;
  if (isListBox(element)) return element;
  for (const named of controlledBy(['aria-controls', 'aria-owns'])) {
    const list = dom.matches(named, LIST_ROLES) ? named : everywhere(named, LIST_ROLES)[0] ?? named;
    if (isVisible(list) && !isWithin(element, list)) return list;
    const popup = popupAround(list);
    if (popup) return popup;
  }
  for (const option of controlledBy(['aria-activedescendant'])) {
    const list = dom.closest(option, LIST_ROLES);
    if (list && isVisible(list)) return list;
  }
  if (expandedOf(element) === 'collapsed') return null;
  return visibleLists().filter((each) => !before.has(each) && !isWithin(element, each)).pop() ?? null;
}

/** The popup that a list without a size stands for: some draw their options beside it, for speed. */
function popupAround(list) {
  for (let at = outer(list), up = 0; at && up < WRAPPERS_AROUND && !isPage(dom.tag(at)); at = outer(at), up += 1) {
    if (!isVisible(at)) continue;
    return /absolute|fixed/.test(styleOf(at).position) && !isWithin(choosing.element, at) ? at : null;
  }
  return null;
}

/** The options of a list that can be seen, in it or scrolled out of it; without roles, what can be clicked there. */
function choicesIn(list) {
  const inside = (css) => everywhere(window.document, css).filter((each) => isWithin(each, list) && isVisible(each));
  const choices = inside(CHOICES).filter((each) => each !== list);
  const cells = choices.filter((each) => roleOf(each) !== 'row' || !choices.some((other) => other !== each && isWithin(other, each)));
  if (cells.length) return cells;
  const items = inside('*').filter((each) => each !== list && isClickable(each, styleOf(each), hasPointer(outer(each))));
  return items.length ? items : inside('li');
}

const NAMES_OF_CHOICE = [
  (option) => normal(nameOf(option, roleOf(option) || 'option', true)),
  (option) => normal(textOf(option)),
  (option) => normal(attribute(option, 'title') ?? ''),
  (option) => normal(attribute(option, 'data-value') ?? attribute(option, 'value') ?? ''),
];

/** The options of this name, else of this text, else of this value, first as they stand and then in any case. */
function choicesNamed(choices, wanted, list) {
  for (const fold of [(text) => text, lower]) {
    for (const nameIn of NAMES_OF_CHOICE) {
      const found = choices.filter((each) => fold(nameIn(each)) === fold(wanted));
      if (found.length) return toldApart(found, choices, list);
    }
  }
  return toldApart(choicesAtPath(choices, wanted, list), choices, list);
}

/**
 * offered({value, slice, opens, rests}): the option of this name in the open list, and its point. Without one it waits
 * until no list has opened for so many ms, or the open one was still, scrolls through that, and answers with its options.
 */
async function offered({ value, slice, opens, rests }) {
  const wanted = normal(value);
  choosing.still = null;
  const isDone = (each) => each.found || each.failure || hasRested(each, each.open ? rests : opens);
  let found = await retry(slice, () => offer(wanted), isDone);
  if (!found.found && !found.failure && !found.several && found.open) found = await searchByScrolling(wanted, now() + LONGEST_SEARCH) ?? found;
  return { found: false, ...found, still: undefined, options: found.found ? [] : linesOfChoices() };
}

/** What the list offers at this moment: the option with its point, or why it cannot be chosen. */
async function offer(wanted) {
  const list = isLive(choosing.element) ? listOfChooser() : null;
  if (!list) return { open: false, still: '' };
  const choices = choicesIn(list);
  const named = choicesNamed(choices, wanted, list);
  const [option] = named;
  const still = `${choices.length} ${choices.slice(0, OPTIONS_SHOWN).map((each) => normal(dom.textContent(each))).join('|')}`;
  if (!option) return { open: true, still };
  if (named.length > 1) return { open: true, still, several: severalChoices(named, choices, list, wanted) };
  if (isDisabled(option)) return { open: true, still, failure: `${lineFor(option)} is disabled` };
  const isOneOfMany = flag(list, 'aria-multiselectable');
  const chosen = isOneOfMany && isChosen(option);
  const request = aimedRequest(option, chosen);
  const refused = await pointAt(option, request);
  if (refused) return { open: true, still: `${still} ${now()}` };
  choosing.wanted = wanted;
  choosing.names = namesOfChoice(option);
  choosing.others = isOneOfMany ? new Set() : namesBeside(option, choices);
  choosing.shown = shownIn(choosing.element);
  const { x, y } = request.found.point;
  return { open: true, found: true, x, y, still, chosen };
}

const namesOfChoice = (option) => new Set(NAMES_OF_CHOICE.map((nameIn) => nameIn(option)));

/** What the combobox shows if another of these options is taken, but for texts that the one has, too. */
function namesBeside(option, choices) {
  const names = new Set();
  for (const each of choices) {
    if (each === option) continue;
    names.add(normal(dom.textContent(each))).add(normal(attribute(each, 'aria-label') ?? attribute(each, 'title') ?? ''));
  }
  for (const name of ['', ...choosing.names]) names.delete(name);
  return names;
}

/** Asks for the point of an option at rest that is clicked next, unless nothing shall be clicked. */
function aimedRequest(option, isNotClicked = false) {
  const [name] = NAMES_OF_CHOICE.map((nameIn) => nameIn(option)).filter(Boolean);
  return { found: {}, rest: true, aim: isNotClicked ? undefined : 'press', isStill: () => namesOfChoice(option).has(name) };
}

/** surplus({values}): the point of an option that a list of several choices has as chosen and that is none of these. */
async function surplus({ values }) {
  const list = isLive(choosing.element) ? listOfChooser() : null;
  if (!list || !flag(list, 'aria-multiselectable')) return { point: null };
  const choices = choicesIn(list);
  const wanted = new Set(values.map((value) => choicesNamed(choices, normal(value), list)[0]));
  const option = choices.find((each) => isChosen(each) && !wanted.has(each));
  if (!option) return { point: null };
  const request = aimedRequest(option);
  if (await pointAt(option, request)) return { point: null };
  return { point: [request.found.point.x, request.found.point.y] };
}

/** True once an answer has been the same for so many ms, and the page waits for nothing. */
function hasRested({ still }, patience) {
  const { still: last } = choosing;
  if (!last || last.text !== still) {
    choosing.still = { text: still, since: now() };
    return false;
  }
  return now() - last.since >= patience && !unrest(choosing);
}

/** Scrolls through a list that shows only a part of its options, from its beginning. */
async function searchByScrolling(wanted, end) {
  const list = listOfChooser();
  const scroller = list && scrollerOfList(list);
  if (!scroller) return null;
  dom.scrollBy(scroller, { top: -dom.scrollTop(scroller), behavior: 'instant' });
  for (let step = 0; step < LIST_STEPS && now() < end; step += 1) {
    await frame();
    await frame();
    const answer = await offer(wanted);
    if (answer.found || answer.failure || answer.several) return answer;
    const before = dom.scrollTop(scroller);
    dom.scrollBy(scroller, { top: dom.clientHeight(scroller) * LIST_STEP, behavior: 'instant' });
    if (dom.scrollTop(scroller) === before && !(await hasGrown(scroller, end))) return null;
  }
  return null;
}

/** True if a list that is scrolled to its end gets longer: more of it is loaded. */
async function hasGrown(scroller, end) {
  const height = dom.scrollHeight(scroller);
  const limit = Math.max(0, Math.min(300, end - now()));
  return (await retry(limit, () => dom.scrollHeight(scroller) > height, (grown) => grown));
}

/** The part of a list that scrolls: itself, one inside it, or the popup around it. */
function scrollerOfList(list) {
  const inside = [list, ...queryAll(list, '*')].find((each) => canScroll(each, 'down'));
  if (inside) return inside;
  for (let at = outer(list), up = 0; at && up < WRAPPERS_AROUND && !isPage(dom.tag(at)); at = outer(at), up += 1) {
    if (canScroll(at, 'down')) return at;
  }
  return null;
}

function linesOfChoices() {
  const list = isLive(choosing.element) ? listOfChooser() : null;
  return list ? choicesIn(list).slice(0, OPTIONS_SHOWN).map(lineFor) : [];
}

// What was chosen

const isChosen = (option) => flag(option, 'aria-selected') || checkedOf(option) === true;

/** What a combobox shows as its value: the text of its field, else its own, and what is drawn right beside it. */
function shownIn(element) {
  const own = normal((choosing.field ?? element) && (rawValue(choosing.field ?? element) ?? ''));
  if (own || isListBox(element)) return own;
  for (let at = element, up = 0; at && up < WRAPPERS_AROUND && !isPage(dom.tag(at)); at = outer(at), up += 1) {
    const text = isHostOfList(at) ? '' : normal(textOf(at));
    if (text) return text;
  }
  return '';
}

const isHostOfList = (element) => visibleLists().some((list) => isWithin(list, element));

/** comboboxHeld({slice}): waits until the list has the option that was clicked as selected, or is closed and shows it. */
function comboboxHeld({ slice }) {
  return retry(slice, () => {
    const { element, wanted } = choosing;
    if (!element || !isLive(element)) return { same: false, gone: true, value: '', ...describePage() };
    const value = shownIn(element);
    const list = listOfChooser();
    const option = list && choicesNamed(choicesIn(list), wanted, list)[0];
    const other = choosing.others.has(value) || undefined;
    const isShown = value !== '' && !other && (value !== choosing.shown || choosing.names.has(value));
    return { same: option ? isChosen(option) : isShown, other, value: shown(value), ...describePage() };
  }, ({ same, gone }) => same || gone);
}
