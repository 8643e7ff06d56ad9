// What a script prints, as text, and what of its values is more than data.

/** Beside a page there is nothing of that kind. */
const instead = () => undefined;

/** A value as `console.log` prints it. */
function printed(value) {
  if (typeof value === 'string') return value;
  if (value === undefined) return 'undefined';
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  return typeof value === 'object' ? stringify(portable(value)) : `${typeof value === 'number' ? value : portable(value)}`;
}
