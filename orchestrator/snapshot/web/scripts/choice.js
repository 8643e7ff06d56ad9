// Finds options of a select, and the keys or the point to choose them by.

/** The ways to name an option, the first that meets one counts: its value, its label, its group and either. */
const WAYS_TO_AN_OPTION = [
  (option, wanted) => dom.has(option, 'value') && option.value === wanted,
  (option, wanted) => optionLabel(option) === normal(wanted) || option.value === wanted,
  (option, wanted) => isAtPath(wanted, groupNameOf(option), [optionLabel(option), option.value]),
];

/** The option of this value, else of this label, else of this group and label, else at this index; or why there is none. */
function findOption(select, wanted, byIndex = false) {
  const options = [...select.options];
  for (const isNamed of WAYS_TO_AN_OPTION) {
    const named = options.filter((option) => isNamed(option, wanted));
    const [first, ...others] = named;
    const isOne = isNamed === WAYS_TO_AN_OPTION[0] || others.every((other) => isSameOption(first, other));
    if (first) return isOne ? { option: first } : { refused: severalOptions(select, wanted, named) };
  }
  const option = byIndex && /^\d+$/.test(wanted) ? options[Number(wanted)] : undefined;
  return option ? { option } : { refused: noOption(select, options, wanted) };
}

/** True for two options of one name that a form cannot tell from each other. */
const isSameOption = (option, other) => option.value === other.value &&
  (dom.has(option, 'value') || groupOfOption(option) === groupOfOption(other));

const groupOfOption = (option) => dom.closest(option, 'optgroup');

/** The name of the group that an option is in, '' outside of groups. */
function groupNameOf(option) {
  const group = groupOfOption(option);
  return group ? normal(nameOf(group, 'group')) : '';
}

/** True if `wanted` is one of these names behind that of their group: `Children > 100 mg`. */
function isAtPath(wanted, group, names) {
  if (!group || !wanted.includes('>')) return false;
  const path = (text) => normal(text).replace(/ ?> ?/g, '>');
  return names.some((name) => path(`${group}>${name}`) === path(wanted));
}

/** A name with that of its group, as it is given to choose it. */
const pathOfOption = (group, name) => plain(group ? `${group} > ${name}` : name);

const toldOption = (option) => pathOfOption(groupNameOf(option), optionLabel(option)) +
  (dom.has(option, 'value') ? ` (value ${plain(option.value)})` : '');

function severalOptions(select, wanted, named) {
  const told = enumerated(named, toldOption);
  return no('several_options', `${lineFor(select)} has ${named.length} options ${quoted(wanted)}: ${told}`);
}

function noOption(select, options, wanted) {
  const available = enumerated(options, (option) => quoted(optionLabel(option))) || 'none';
  return no('no_option', `${lineFor(select)} has no option ${quoted(wanted)}. Available: ${available}`);
}

/** The first of these, each as `tell` tells it, and the number of the others. */
function enumerated(all, tell) {
  const told = all.slice(0, OPTIONS_SHOWN).map(tell).join(', ');
  return all.length > OPTIONS_SHOWN ? `${told}, … ${all.length - OPTIONS_SHOWN} more` : told;
}

const optionName = (option) => `option ${quoted(optionLabel(option))}`;

/** The label of an option that is chosen, with its group where others have that label, too. */
function toldChoice(option) {
  const label = optionLabel(option);
  const group = groupNameOf(option);
  const select = group ? dom.closest(option, 'select') : null;
  const isAlike = (each) => optionLabel(each) === label && groupOfOption(each) !== groupOfOption(option);
  const isAmbiguous = select !== null && [...select.options].some(isAlike);
  return isAmbiguous ? `${group} > ${label}` : label;
}

/** Finds one option of a select; null once `request.found` holds the way to it. */
function refuseOption(select, request, wanted, byIndex) {
  const { option, refused } = findOption(select, wanted, byIndex);
  if (refused) return refused;
  if (isDisabled(option)) return no('disabled', `${optionName(option)} is disabled`);
  const options = [...select.options];
  const offered = options.filter(isOffered);
  const place = offered.indexOf(option);
  if (place < 0) return no('hidden', `${optionName(option)} is not visible`);
  request.found.optionIndex = options.indexOf(option);
  acting.wanted = new Set([option]);
  if (select.multiple || select.size > 1) return refuseUnseen(option, request);
  request.found.optionSteps = [place, offered.length - 1 - place];
  return null;
}

/** Finds the point of an option that is drawn in the page itself. */
function refuseUnseen(option, request) {
  dom.reveal(option, { block: 'nearest', behavior: 'instant' });
  request.found.point = centre(visiblePart(option));
  return request.found.point ? null : no('hidden', `${optionName(option)} cannot be scrolled into view`);
}

/** True for an option that the keyboard stops at. */
function isOffered(option) {
  const group = groupOfOption(option);
  return !isDisabled(option) && [option, group].every((each) => !each || styleOf(each).display !== 'none');
}

/** Finds exactly these options of a select: `request.values`. */
function refuseOptions(select, request) {
  const { values } = request;
  if (isCombobox(select) || isListBox(select)) return refuseChoice(select, request);
  if (!inHtml(select) || dom.tag(select) !== 'select') return no('not_select', `${lineFor(select)} is not a select`);
  if (!select.multiple && values.length !== 1) return no('bad_value', `${lineFor(select)} takes exactly one value`);
  const refused = refuseUnusable(select);
  if (refused) return refused;
  request.found.multiple = select.multiple;
  if (!select.multiple) return refuseOption(select, request, values[0], true) ?? refuseFocus(select);
  const wanted = new Set();
  for (const value of values) {
    const { option, refused: unfound } = findOption(select, value, true);
    if (unfound) return unfound;
    if (isDisabled(option)) return no('disabled', `${optionName(option)} is disabled`);
    if (!isOffered(option)) return no('hidden', `${optionName(option)} is not visible`);
    wanted.add(option);
  }
  acting.wanted = wanted;
  dom.reveal(select, { block: 'nearest', behavior: 'instant' });
  return null;
}

const REVEALS = 8;

/**
 * toggles(): the points of the options that are not as wanted yet, as many as are in view at once; in a list that
 * scrolls only one, since the browser scrolls such a list by itself after each click.
 */
async function toggles() {
  const { element: select, wanted } = acting;
  if (!isLive(select)) return { points: [], left: 0 };
  const wrong = [...select.options].filter((option) => isOffered(option) && option.selected !== wanted.has(option));
  let points = [];
  // The browser may still scroll for the click before and undo ours: try again.
  for (let times = 0; wrong.length && !points.length && times < REVEALS; times++) {
    dom.reveal(wrong[0], { block: 'nearest', behavior: 'instant' });
    // A pointer hits what was drawn last, so the scrolled list must be drawn first.
    await frame();
    await frame();
    points = pointsOf(dom.scrollHeight(select) > dom.clientHeight(select) ? wrong.slice(0, 1) : wrong);
  }
  return { points, left: wrong.length };
}

function pointsOf(options) {
  return options.map((option) => [option, centre(visiblePart(option))])
    .filter(([option, point]) => point && hitAt(option, point) === option)
    .map(([, { x, y }]) => [x, y]);
}

/** optionsHeld(): the chosen options of the select acted on; `same` if they are exactly the wanted ones. */
function optionsHeld() {
  const { element: select, wanted } = acting;
  if (!select || !isLive(select)) return { same: false, gone: true, value: '', ...describePage() };
  // Firefox's driver takes the focus away once it has chosen.
  const focused = activeIn[DOCUMENT](dom.document(select));
  if (inFirefox && focused && isPage(dom.tag(focused))) dom.focus(select);
  const same = [...select.options].every((option) => option.selected === wanted.has(option));
  return { same, value: shown(valueOf(select)), ...describePage() };
}
