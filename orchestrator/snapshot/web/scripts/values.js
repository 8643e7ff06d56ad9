// The elements of a caller's script, handed over to the page's own world and back; see script.js.
const handed = { given: [], returned: [] };
const MOST_RETURNED = 10_000;

/** Those of the head of the cluster, whose engine answers, while the script runs in this window. */
function handedOver() {
  const head = headWindow();
  return head === window ? handed : engineOf(head).handed;
}

listen(window, `${CHANNEL}:give`, () => {
  const elements = handedOver().given;
  handedOver().given = [];
  for (const element of elements) dispatch(window, new FocusEvent(`${CHANNEL}:given`, { relatedTarget: element }));
});

listen(window, `${CHANNEL}:returned`, ({ relatedTarget }) => {
  const { returned } = handedOver();
  if (returned.length < MOST_RETURNED) returned.push(relatedTarget);
});

/** The arguments of a script: {"ref": …} and {"locator": …} are found, and numbers stand for them, at any depth. */
function hold(value, mark) {
  if (Array.isArray(value)) return value.map((each) => hold(each, mark));
  if (value === null || typeof value !== 'object') return value;
  const keys = Object.keys(value);
  const isRef = keys.length === 1 && typeof value.ref === 'string';
  if (isRef || (keys.length === 1 && value.locator)) {
    handed.given.push(argument(isRef ? { by: 'ref', value: value.ref, given: value.ref } : value.locator));
    return { [mark]: handed.given.length - 1 };
  }
  return Object.fromEntries(keys.map((key) => [key, hold(value[key], mark)]));
}

/** The element of an argument; a refusal repeats it as the caller wrote it. */
function argument(locator) {
  try {
    return mustFind(locator)[0];
  } catch (error) {
    if (error.answer) error.answer.given = locator.given;
    throw error;
  }
}

/** The elements that the last script returned, as its answer shows them. */
function takeReturned() {
  const elements = handed.returned;
  handed.returned = [];
  return elements.map((element) => (isNode(element) && dom.type(element) === ELEMENT ? { ref: refOf(element) } : null));
}

const isNode = (value) => {
  try {
    return dom.type(value) > 0;
  } catch {
    return false;
  }
};
