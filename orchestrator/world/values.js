// What a script returns and prints, as JSON and as text.
const DEEPEST = 20;

/** A copy that JSON can carry; `above` are the objects that it lies in. */
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
  const copy = (each) => portable(each, [...above, value]);
  if (value instanceof Date) return Number.isNaN(+value) ? null : value.toISOString();
  if (value instanceof RegExp) return `${value}`;
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, each]) => [`${key}`, copy(each)]));
  if (value instanceof Set) return [...value].map(copy);
  if (value instanceof Error) return { name: `${value.name}`, message: `${value.message}` };
  if (value instanceof Promise) return '[promise]';
  if (Array.isArray(value) || ArrayBuffer.isView(value)) return Array.from(value, copy);
  return Object.fromEntries(Object.keys(value).map((key) => [key, copy(read(value, key))]));
}

/** What a getter throws is the script's own affair. */
function read(value, key) {
  try {
    return value[key];
  } catch {
    return null;
  }
}

/** A value as `console.log` prints it. */
function printed(value) {
  if (typeof value === 'string') return value;
  if (value === undefined) return 'undefined';
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  return typeof value === 'object' ? stringify(portable(value)) : `${typeof value === 'number' ? value : portable(value)}`;
}
