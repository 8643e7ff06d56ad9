// Carries values between the caller's JSON and a script's JavaScript, elements as refs.
const DEEPEST = 20;

/** The arguments of a script: {"ref": …} and {"locator": …} become elements, at any depth. */
function revive(value) {
  if (Array.isArray(value)) return value.map(revive);
  if (value === null || typeof value !== 'object') return value;
  const keys = Object.keys(value);
  if (keys.length === 1 && typeof value.ref === 'string') return argument({ by: 'ref', value: value.ref, given: value.ref });
  if (keys.length === 1 && value.locator) return argument(value.locator);
  return Object.fromEntries(keys.map((key) => [key, revive(value[key])]));
}

/** The element that an argument means; a refusal names it as the caller wrote it. */
function argument(locator) {
  try {
    return mustFind(locator)[0];
  } catch (error) {
    if (error.answer) error.answer.given = locator.given;
    throw error;
  }
}

/** A copy that JSON can carry: see the cases. */
function portable(value, above) {
  switch (typeof value) {
    case 'string': case 'boolean': return value;
    case 'number': return Number.isFinite(value) ? value : null;
    case 'bigint': return `${value}`;
    case 'symbol': return value.toString();
    case 'function': return `[function ${value.name || 'anonymous'}]`;
    case 'object': return value === null ? null : portableObject(value, above);
    default: return null;
  }
}

function portableObject(value, above) {
  if (above.includes(value)) return '[circular]';
  if (above.length >= DEEPEST) return '[too deep]';
  const kind = Object.prototype.toString.call(value);
  const inner = [...above, value];
  const copy = (each) => portable(each, inner);
  if (isNode(value)) return dom.type(value) === ELEMENT ? { ref: refOf(value) } : `[${kind.slice(8, -1)}]`;
  if (kind === '[object Window]' || kind === '[object global]') return '[Window]';
  if (kind === '[object Date]') return Number.isNaN(+value) ? null : new Date(+value).toISOString();
  if (kind === '[object RegExp]') return `${value}`;
  if (kind === '[object Map]') return Object.fromEntries([...value].map(([key, each]) => [`${key}`, copy(each)]));
  if (kind === '[object Set]') return [...value].map(copy);
  if (kind === '[object Error]') return { name: `${value.name}`, message: `${value.message}` };
  if (Array.isArray(value) || isList(kind) || ArrayBuffer.isView(value)) return Array.from(value, copy);
  return Object.fromEntries(ownMembers(value).map((key) => [key, copy(readSafely(value, key))]));
}

const isList = (kind) => kind === '[object NodeList]' || kind === '[object HTMLCollection]';

/** Getters on a prototype (a DOMRect's, a Location's) are members too; methods are not. */
function ownMembers(value) {
  const keys = Object.keys(value);
  if (keys.length || typeof value.toJSON !== 'function') return keys;
  const plainly = value.toJSON();
  return plainly !== null && typeof plainly === 'object' ? Object.keys(plainly) : keys;
}

function readSafely(value, key) {
  try {
    return value[key];
  } catch {
    return null;
  }
}

const isNode = (value) => {
  try {
    return dom.type(value) > 0;
  } catch {
    return false;
  }
};
