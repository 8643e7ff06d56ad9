// Gives each element a number that it keeps, from a range that the caller reserved: [next, end, caller, call].
const numbers = new WeakMap();
const holders = new Map();
const graves = new FinalizationRegistry((number) => holders.delete(number));
let reserved = { next: 0, end: 0, missing: [] };

function reserve(range) {
  reserved = { next: range?.[0] ?? 0, end: range?.[1] ?? 0, missing: [] };
  readBy(range?.[2] ?? '', range?.[3] ?? '');
}

/** Part of the placeholder for a ref without a number; the page cannot guess it, so its text never looks like one. */
const salt = `${Math.random()}${Math.random()}`.replace(/\D/g, '');
const PLACEHOLDERS = new RegExp(`e#${salt}-(\\d+)#`, 'g');

/** The element's ref; if the range is used up, a placeholder that `engine.js` replaces once there are more numbers. */
function refOf(element) {
  let number = numbers.get(element);
  if (number === undefined) {
    if (reserved.next >= reserved.end) {
      reserved.missing.push(element);
      return `e#${salt}-${reserved.missing.length - 1}#`;
    }
    number = reserved.next;
    reserved.next += 1;
    numbers.set(element, number);
    holders.set(number, new WeakRef(element));
    graves.register(element, number);
  }
  return `e${number}`;
}

/** True for an element whose ref was given out. */
const isReferred = (element) => numbers.has(element);

/** The element of a ref while it is part of the page, else null. */
function elementOf(ref) {
  const element = holders.get(Number(`${ref}`.slice(1)))?.deref();
  return element && isLive(element) ? element : null;
}
