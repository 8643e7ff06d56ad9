// Copies a script's value as JSON data, for scripts in a page and for those of script worlds. Each of them has its own
// function `instead` for values that are no data.
const DEEPEST = 20;
/** Characters of JSON that stand for a value which is no text, or around one. */
const LEAST_JSON = 2;

/** The copy; `above` are the objects that contain the value, `room` has the characters `left` that its JSON may have. */
function portable(value, above = [], room = { left: Infinity }) {
  if (typeof value === 'string') return fitting(value, room);
  room.left -= LEAST_JSON;
  switch (typeof value) {
    case 'boolean': return value;
    case 'number': return Number.isFinite(value) ? value : null;
    case 'bigint': return `${value}`;
    case 'symbol': return value.toString();
    case 'function': return `[function ${value.name || 'anonymous'}]`;
    case 'object': return value === null ? null : portableObject(value, above, room);
    default: return null;
  }
}

/** The text, or its beginning where there is no room for all of it. */
function fitting(text, room) {
  const shown = text.length > room.left ? text.slice(0, Math.max(room.left, 0)) : text;
  room.left -= text.length + LEAST_JSON;
  return shown;
}

/** Copies of the items, as many as there is room for. */
function copies(items, copy, room) {
  const copied = [];
  for (let i = 0; i < items.length && room.left >= 0; i += 1) copied.push(copy(items[i]));
  return copied;
}

function portableObject(value, above, room) {
  if (above.includes(value)) return '[circular]';
  if (above.length >= DEEPEST) return '[too deep]';
  const kind = Object.prototype.toString.call(value);
  const inner = [...above, value];
  const copy = (each) => portable(each, inner, room);
  const member = ([key, each]) => [fitting(`${key}`, room), copy(each)];
  const other = instead(value, kind);
  if (other !== undefined) return other;
  if (kind === '[object Date]') return Number.isNaN(+value) ? null : new Date(+value).toISOString();
  if (kind === '[object RegExp]') return `${value}`;
  if (kind === '[object Map]') return Object.fromEntries(copies([...value], member, room));
  if (kind === '[object Set]') return copies([...value], copy, room);
  if (kind === '[object Error]') return { name: `${value.name}`, message: `${value.message}` };
  if (kind === '[object Promise]') return '[promise]';
  if (Array.isArray(value) || isList(kind) || ArrayBuffer.isView(value)) return copies(value, copy, room);
  return Object.fromEntries(copies(ownMembers(value), (key) => member([key, readSafely(value, key)]), room));
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
