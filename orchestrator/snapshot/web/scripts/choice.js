// Finds options of a select, and the keys or the point to choose them by.

/** The option of this value, else of this label, else at this index; -1 where there is none. */
function optionIndex(options, wanted, byIndex = false) {
  let index = options.findIndex((option) => option.value === wanted);
  if (index < 0) index = options.findIndex((option) => optionLabel(option) === normal(wanted));
  return index < 0 && byIndex && /^\d+$/.test(wanted) && Number(wanted) < options.length ? Number(wanted) : index;
}

function noOption(select, options, wanted) {
  const labels = options.slice(0, OPTIONS_SHOWN).map((option) => quoted(optionLabel(option))).join(', ');
  return no('no_option', `${lineFor(select)} has no option ${quoted(wanted)}; it has ${labels || 'none'}`);
}

const optionName = (option) => `option ${quoted(optionLabel(option))}`;

/** Finds one option of a select; null once `request.found` holds the way to it. */
function refuseOption(select, request, wanted, byIndex) {
  const options = [...select.options];
  const index = optionIndex(options, wanted, byIndex);
  if (index < 0) return noOption(select, options, wanted);
  if (isDisabled(options[index])) return no('disabled', `${optionName(options[index])} is disabled`);
  const offered = options.filter(isOffered);
  const place = offered.indexOf(options[index]);
  if (place < 0) return no('hidden', `${optionName(options[index])} is not visible`);
  request.found.optionIndex = index;
  acting.wanted = new Set([options[index]]);
  if (select.multiple || select.size > 1) return refuseUnseen(options[index], request);
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
  const group = dom.closest(option, 'optgroup');
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
  const options = [...select.options];
  const wanted = new Set();
  for (const value of values) {
    const option = options[optionIndex(options, value, true)];
    if (!option) return noOption(select, options, value);
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
