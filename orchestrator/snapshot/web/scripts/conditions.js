// Waits for conditions on an element or on the page; answers which of them do not hold.
const same = (expected, actual) => ({ holds: actual === expected, expected, actual });

const isSeen = (element) => isVisible(seenOf(element));

/** Conditions on the first match; each answers {holds, expected, actual}. */
const ON_ELEMENT = {
  visible: (element, wanted) => same(wanted, element !== null && isSeen(element)),
  enabled: (element, wanted) => same(wanted, element && !isDisabled(element)),
  checked: (element, wanted) => same(wanted, element && checkedOf(element) === true),
  text: (element, wanted) => same(normal(wanted), element && normal(textOrValue(element))),
  containsText: (element, wanted) => containing(wanted, element && textOrValue(element)),
  value: compareValue,
  attribute: compareAttribute,
};

const textOrValue = (element) => {
  const button = dom.tag(element) === 'input' && /^(button|submit|reset)$/.test(element.type);
  return button ? nameOf(element) : textOf(element);
};

function containing(wanted, actual) {
  const found = actual !== null && lower(normal(actual)).includes(lower(normal(wanted)));
  return { holds: found, expected: normal(wanted), actual: actual === null ? null : shown(actual) };
}

function compareValue(element, wanted) {
  if (!element) return { holds: false, expected: wanted, actual: null };
  const secret = isSecret(element);
  const isHeld = holds(element, wanted);
  return {
    holds: isHeld, expected: secret ? MASK : wanted, actual: secret ? valueOf(element) : shown(rawValue(element) ?? ''),
  };
}

function compareAttribute(element, { name, value }) {
  const actual = element ? attribute(element, name) : null;
  const anyValue = value === undefined || value === null;
  const isHeld = anyValue ? actual !== null : actual === value;
  const hidden = element !== null && isSecret(element) && lower(name) === 'value';
  const mask = (text) => (hidden && text ? MASK : text);
  return {
    holds: isHeld, expected: anyValue ? `${name} present` : mask(value),
    actual: actual === null ? null : shown(mask(actual)),
  };
}

const ON_STATE = {
  visible: (found) => found.some(isSeen),
  hidden: (found) => !found.some(isSeen),
  enabled: (found) => found.some((element) => isSeen(element) && !isDisabled(element)),
  gone: (found) => found.length === 0,
};

function compareState(found, wanted) {
  if (!Object.hasOwn(ON_STATE, wanted)) throw new Error(`there is no state ${wanted}`);
  return { holds: ON_STATE[wanted](found), expected: wanted, actual: stateOf(found) };
}

function stateOf(found) {
  if (!found.length) return 'gone';
  if (!found.some(isSeen)) return 'hidden';
  return ON_STATE.enabled(found) ? 'visible' : 'visible, disabled';
}

const ON_PAGE = {
  url: (given) => {
    const [actual, wanted] = [addressOf(window.document), withoutUser(given)];
    return { holds: urlMatches(actual, wanted), expected: wanted, actual: cut(actual, LONGEST_URL) };
  },
  title: (wanted) => {
    const actual = dom.title(window.document);
    return {
      holds: actual.includes(wanted) || globPattern(wanted).test(actual), expected: wanted, actual: cut(actual, LONGEST),
    };
  },
  pageText: (wanted, found) => ({
    holds: lower(normal(textOf(found[0] ?? window.document))).includes(lower(normal(wanted))),
    expected: normal(wanted), actual: null,
  }),
  quiet: (ms) => {
    const actual = disquiet(ms);
    return { holds: actual === null, expected: ms, actual };
  },
};

/** A glob without a scheme also stands for the end of the address, query and fragment aside. */
function urlMatches(url, glob) {
  if (url === glob) return true;
  const pattern = globPattern(/^[a-z][a-z\d+.-]*:/i.test(glob) || glob.startsWith('*') ? glob : `*${glob}`);
  return [url, url.split('#')[0], url.split(/[?#]/)[0]].some((each) => pattern.test(each));
}

function judge(condition, value, found) {
  if (condition === 'count') return same(value, found.length);
  if (condition === 'state') return compareState(found, value);
  if (Object.hasOwn(ON_PAGE, condition)) return ON_PAGE[condition](value, found);
  if (!Object.hasOwn(ON_ELEMENT, condition)) throw new Error(`there is no condition ${condition}`);
  return ON_ELEMENT[condition](found.find(isVisible) ?? found[0] ?? null, value);
}

/** The matches of a locator; none for a ref that went away or a frame that is not there. */
function matchesOf(locator) {
  if (!locator) return [];
  try {
    return locate(locator);
  } catch (error) {
    const isMiss = error instanceof Refusal && !(error instanceof Ambiguity);
    if (isMiss && !/^(invalid|frame_gone)$/.test(error.answer.reason)) return [];
    throw error;
  }
}

/**
 * wait({conditions, not, slice, locator?, since?}): `ok` if all hold, or with `not` if not all do; `frames` as in
 * `ready`. Quiet counts from the first call with this `since`.
 */
async function wait({ conditions, not, slice, locator, since }) {
  beginQuiet(since);
  const answer = await retry(slice, () => assess(conditions, locator, not), ({ ok }) => ok);
  const { found, ...facts } = answer;
  const text = conditions.pageText ?? conditions.containsText ?? conditions.text;
  const isElsewhere = conditions.pageText === undefined ? locator && !found.length : !answer.ok;
  const elsewhere = isElsewhere ? crossOriginFrames(locator) : undefined;
  return { ...facts, ...describePage(), near: answer.ok ? [] : linesNear(found, locator, text), frames: elsewhere };
}

function assess(conditions, locator, not) {
  const found = matchesOf(locator);
  const verdicts = Object.entries(conditions)
    .map(([condition, value]) => ({ condition, ...judge(condition, value, found) }));
  const failed = verdicts.filter((verdict) => !verdict.holds);
  const ok = not ? failed.length > 0 : failed.length === 0;
  const reported = (not ? verdicts : failed).map(({ condition, expected, actual }) => ({ condition, expected, actual }));
  return { ok, failed: ok ? [] : reported, matches: found.length, found };
}
