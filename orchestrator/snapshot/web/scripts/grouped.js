// Options of one name in a list that a page made of its own elements: the groups that tell them apart.

/** The name of the group that an option of a list is in: a group of ARIA, else what stands above it; '' without one. */
function groupNameIn(option, choices, list) {
  for (let at = outer(option); at && at !== list; at = outer(at)) {
    const name = roleOf(at) === 'group' || roleOf(at) === 'rowgroup' ? normal(nameOf(at, 'group')) : '';
    if (name) return name;
  }
  for (let at = option; at && at !== list; at = outer(at)) {
    const heading = headingBefore(at, choices);
    if (heading) return heading;
  }
  return '';
}

/** The text of the nearest element before this one that holds no option. */
function headingBefore(element, choices) {
  for (let at = dom.previous(element); at; at = dom.previous(at)) {
    if (dom.type(at) !== ELEMENT || choices.some((choice) => isWithin(choice, at))) continue;
    const text = normal(textOf(at));
    if (text) return shown(text);
  }
  return '';
}

const givenValue = (option) => attribute(option, 'data-value') ?? attribute(option, 'value') ?? '';
const isCopy = (option) => dom.closest(option, '[aria-hidden="true"]') !== null;

/** Those of these options of one name that a person tells from the first one: by group or value; copies are none. */
function toldApart(named, choices, list) {
  if (named.length < 2) return named;
  const [first, ...others] = named.some((each) => !isCopy(each)) ? named.filter((each) => !isCopy(each)) : named;
  const isSame = (one, other) =>
    givenValue(one) === givenValue(other) && groupNameIn(one, choices, list) === groupNameIn(other, choices, list);
  const kept = [first];
  for (const other of others) if (!kept.some((each) => isSame(each, other))) kept.push(other);
  return kept;
}

/** The options that are named with their group, `Group > Option`. */
function choicesAtPath(choices, wanted, list) {
  if (!wanted.includes('>')) return [];
  const names = (option) => NAMES_OF_CHOICE.map((nameIn) => nameIn(option)).filter(Boolean);
  return choices.filter((option) => isAtPath(wanted, groupNameIn(option, choices, list), names(option)));
}

/** Says which options of a list have this name. */
function severalChoices(named, choices, list, wanted) {
  const told = enumerated(named, (option) => {
    const value = givenValue(option);
    const path = pathOfOption(groupNameIn(option, choices, list), NAMES_OF_CHOICE[0](option) || normal(textOf(option)));
    return value ? `${path} (value ${plain(value)})` : path;
  });
  return `it has ${named.length} options ${quoted(wanted)}: ${told}`;
}
