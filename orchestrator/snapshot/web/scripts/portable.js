// Copies a script's value as JSON data, for scripts in a page and for those of script worlds. Each of them has its own
// function `instead` for values that are no data.
const DEEPEST = 20;

/** The copy; `above` are the objects that contain the value. */
function portable(value, above = []) {
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
  const other = instead(value, kind);
  if (other !== undefined) return other;
  if (kind === '[object Date]') return Number.isNaN(+value) ? null : new Date(+value).toISOString();
  if (kind === '[object RegExp]') return `${value}`;
  if (kind === '[object Map]') return Object.fromEntries([...value].map(([key, each]) => [`${key}`, copy(each)]));
  if (kind === '[object Set]') return [...value].map(copy);
  if (kind === '[object Error]') return { name: `${value.name}`, message: `${value.message}` };
  if (kind === '[object Promise]') return '[promise]';
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

/** The value of a property; null if its getter throws. */
function readSafely(value, key) {
  try {
    return value[key];
  } catch {
    return null;
  }
}
