// Aligns two listings, to distinguish lines that moved or were redrawn from lines that came and went.
const MOST_ALIKE = 200;
const MOST_PAIRS = 500000;

/**
 * The most pairs [index before, index after] of lines that belong together, in the order of both listings, which are
 * arrays of [key, line]. Lines with the same key belong together; other lines do if their text is equal.
 */
function aligned(before, after) {
  const [older, newer] = [new Set(before.map(([key]) => key)), new Set(after.map(([key]) => key))];
  const old = before.map(([key, line]) => (newer.has(key) ? key : line));
  const young = after.map(([key, line]) => (older.has(key) ? key : line));
  const pairs = [];
  let start = 0;
  while (start < old.length && start < young.length && old[start] === young[start]) pairs.push([start, start++]);
  let [oldEnd, youngEnd] = [old.length, young.length];
  while (oldEnd > start && youngEnd > start && old[oldEnd - 1] === young[youngEnd - 1]) pairs.push([--oldEnd, --youngEnd]);
  for (let link = longestChain(old, young, start, oldEnd, youngEnd); link; link = link.last) pairs.push(link.pair);
  return pairs;
}

/** The longest common subsequence of what is left (Hunt and Szymanski), as a chain from its last pair to its first. */
function longestChain(old, young, start, oldEnd, youngEnd) {
  const places = new Map();
  for (let at = start; at < oldEnd; at += 1) {
    if (!places.has(old[at])) places.set(old[at], []);
    places.get(old[at]).push(at);
  }
  const chains = [];
  let left = MOST_PAIRS;
  for (let at = start; at < youngEnd; at += 1) {
    const alike = places.get(young[at]) ?? [];
    if (alike.length > MOST_ALIKE || left < alike.length) continue;
    left -= alike.length;
    for (let nth = alike.length - 1; nth >= 0; nth -= 1) {
      const length = lengthBelow(chains, alike[nth]);
      chains[length] = { pair: [alike[nth], at], last: chains[length - 1] ?? null };
    }
  }
  return chains[chains.length - 1] ?? null;
}

/** The number of chains that end before this index; longer chains end later. */
function lengthBelow(chains, place) {
  let [low, high] = [0, chains.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (chains[middle].pair[0] < place) low = middle + 1;
    else high = middle;
  }
  return low;
}
