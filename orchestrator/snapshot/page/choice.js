// Finds the options of a select that are meant, and the way to them: by keys, or by the point where they stand.
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

/** One option of a select; null once `wish.found` says how to get to it. */
function refuseOption(select, wish, wanted, byIndex) {
  const options = [...select.options];
  const index = optionIndex(options, wanted, byIndex);
  if (index < 0) return noOption(select, options, wanted);
  if (isDisabled(options[index])) return no('disabled', `${optionName(options[index])} is disabled`);
  const offered = options.filter(isOffered);
  const place = offered.indexOf(options[index]);
  if (place < 0) return no('hidden', `${optionName(options[index])} is not visible`);
  wish.found.optionIndex = index;
  acting.wanted = new Set([options[index]]);
  if (select.multiple || select.size > 1) return refuseUnseen(options[index], wish);
  wish.found.optionSteps = [place, offered.length - 1 - place];
  return null;
}

/** The point of an option that stands in the page. */
function refuseUnseen(option, wish) {
  dom.reveal(option, { block: 'nearest', behavior: 'instant' });
  wish.found.point = centre(visiblePart(option));
  return wish.found.point ? null : no('hidden', `${optionName(option)} cannot be scrolled into view`);
}

/** True for an option that the keyboard stops at in the list of a select. */
function isOffered(option) {
  const group = dom.closest(option, 'optgroup');
  return !isDisabled(option) && [option, group].every((each) => !each || styleOf(each).display !== 'none');
}

/** Exactly these options of a select: `wish.values`. */
function refuseOptions(select, wish) {
  const { values } = wish;
  if (!inHtml(select) || dom.tag(select) !== 'select') return no('not_select', `${lineFor(select)} is no select`);
  if (!select.multiple && values.length !== 1) return no('bad_value', `${lineFor(select)} takes exactly one value`);
  const refused = refuseUnusable(select);
  if (refused) return refused;
  wish.found.multiple = select.multiple;
  if (!select.multiple) return refuseOption(select, wish, values[0], true) ?? refuseFocus(select);
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
 * toggles(): the points of those options whose state is not as wanted yet, as many as are in view at once; in a list
 * that scrolls one alone, since the browser scrolls such a list by itself after each click.
 */
async function toggles() {
  const { element: select, wanted } = acting;
  if (!isLive(select)) return { points: [] };
  const wrong = [...select.options].filter((option) => isOffered(option) && option.selected !== wanted.has(option));
  let points = [];
  // What the browser still had to scroll for the click before undoes ours: then once more.
  for (let times = 0; wrong.length && !points.length && times < REVEALS; times++) {
    dom.reveal(wrong[0], { block: 'nearest', behavior: 'instant' });
    // A pointer meets what was drawn last: the list as it is scrolled now must have been.
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

/** optionsHeld(): whether the select acted on has exactly the wanted options chosen, and which it has. */
function optionsHeld() {
  const { element: select, wanted } = acting;
  if (!select || !isLive(select)) return { same: false, gone: true, value: '', ...describePage() };
  const same = [...select.options].every((option) => option.selected === wanted.has(option));
  return { same, value: shown(valueOf(select)), ...describePage() };
}
