// Gives elements their numbers: one for life, from a range that the caller reserved.
const numbers = new WeakMap();
const holders = new Map();
const graves = new FinalizationRegistry((number) => holders.delete(number));
let reserved = { next: 0, end: 0, missing: 0 };

function reserve(range) {
  reserved = { next: range?.[0] ?? 0, end: range?.[1] ?? 0, missing: 0 };
}

/** The element's ref. Where the range is used up it counts what is missing; the call is then asked anew. */
function refOf(element) {
  let number = numbers.get(element);
  if (number === undefined) {
    if (reserved.next >= reserved.end) {
      reserved.missing += 1;
      return 'e0';
    }
    number = reserved.next;
    reserved.next += 1;
    numbers.set(element, number);
    holders.set(number, new WeakRef(element));
    graves.register(element, number);
  }
  return `e${number}`;
}

/** The element of a ref while it is part of the page, else null. */
function elementOf(ref) {
  const element = holders.get(Number(`${ref}`.slice(1)))?.deref();
  return element && isLive(element) ? element : null;
}
