// Aligns two listings, so that what moved or was only drawn anew is told apart from what came and went.
const MOST_ALIKE = 200;
const MOST_PAIRS = 500000;

/**
 * Pairs [place before, place after] of lines that stand for the same, in the order of both: the most that there are.
 * Both are arrays of [key, line]. A key of both is the same thing; any other goes with a line that reads the same.
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

/** How many chains end before this place; they end later the longer they are. */
function lengthBelow(chains, place) {
  let [low, high] = [0, chains.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (chains[middle].pair[0] < place) low = middle + 1;
    else high = middle;
  }
  return low;
}
