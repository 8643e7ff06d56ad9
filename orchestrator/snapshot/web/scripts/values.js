// Converts between the caller's JSON and a script's values, elements as refs.

/** The arguments of a script: {"ref": …} and {"locator": …} become elements, at any depth. */
function revive(value) {
  if (Array.isArray(value)) return value.map(revive);
  if (value === null || typeof value !== 'object') return value;
  const keys = Object.keys(value);
  if (keys.length === 1 && typeof value.ref === 'string') return argument({ by: 'ref', value: value.ref, given: value.ref });
  if (keys.length === 1 && value.locator) return argument(value.locator);
  return Object.fromEntries(keys.map((key) => [key, revive(value[key])]));
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

/** The data that replaces a value of the page: an element's ref, the name of another object. */
function instead(value, kind) {
  if (isNode(value)) return dom.type(value) === ELEMENT ? { ref: refOf(value) } : `[${kind.slice(8, -1)}]`;
  return kind === '[object Window]' || kind === '[object global]' ? '[Window]' : undefined;
}

const isNode = (value) => {
  try {
    return dom.type(value) > 0;
  } catch {
    return false;
  }
};
