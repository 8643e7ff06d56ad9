// Values of scripts as console text, and conversion of values that are more than data.

/** The substitute for a value that is more than data, such as an element: outside a page there is none. */
const instead = () => undefined;

/** A value as `console.log` prints it. */
function printed(value) {
  if (typeof value === 'string') return value;
  if (value === undefined) return 'undefined';
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  return typeof value === 'object' ? stringify(portable(value)) : `${typeof value === 'number' ? value : portable(value)}`;
}
