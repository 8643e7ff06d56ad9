// Compares a new document with the one before it, whose lines the caller brings along as a digest: few characters a line.
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const HASH_WIDTH = 5;
const MOST_DIGESTED = 2000;
const MOST_SAVED = 300;

/** The hash of a text (FNV-1a), as five letters. */
function hashed(text) {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  let letters = '';
  for (let shift = 0; shift < 6 * HASH_WIDTH; shift += 6) letters += LETTERS[(hash >>> shift) & 63];
  return letters;
}

/** Role and name, by which a line is known again whose states or value differ; of a text the line. */
const headOf = ({ entry, line }) => (entry.hasRef ? `${entry.shownRole} ${entry.name}` : line);

const telling = (lines) => [...lines.values()].filter(({ line }) => saysSomething(line));

/** What the caller keeps of a mark: the digest of its lines, and the first of them as text. */
function digested(lines) {
  const all = telling(lines).slice(0, MOST_DIGESTED);
  return {
    digest: joined(all.map((each) => hashed(each.line) + hashed(headOf(each))), ''),
    saved: all.slice(0, MOST_SAVED).map(({ line }) => line),
  };
}

/** The lines of a digest, as hashes. */
function undigested(digest) {
  const lines = [];
  for (let at = 0; at < digest.length; at += 2 * HASH_WIDTH) {
    lines.push({ line: digest.slice(at, at + HASH_WIDTH), head: digest.slice(at + HASH_WIDTH, at + 2 * HASH_WIDTH) });
  }
  return lines;
}

/** True if a document at this URL was of this document's origin. */
function isOfOrigin(url) {
  const [here, there] = [window.location, parsedUrl(url)];
  if (!there) return false;
  return here.protocol === 'file:' ? there.protocol === 'file:' : here.origin !== 'null' && there.origin === here.origin;
}

/**
 * What differs from the document before, {url, digest}: lines with the same text are the same, lines with the same role
 * and name changed. `disappeared` are places in the digest; a page that has little in common with the one before is
 * told without them. `controls` can be acted on in the main part, also where the old page had such lines: refs are new.
 */
function differencesFrom(before, lines) {
  const isElsewhere = !before || !isOfOrigin(before.url);
  const old = isElsewhere ? [] : undigested(before.digest);
  const listing = telling(lines);
  const isCut = old.length >= MOST_DIGESTED;
  const compared = isCut ? listing.slice(0, MOST_DIGESTED) : listing;
  const young = compared.map((each) => ({ entry: each.entry, line: hashed(each.line), head: hashed(headOf(each)) }));
  const pairing = new Pairing(old, young);
  const same = new Set(pairing.kept.map(({ entry }) => entry));
  const kept = same.size;
  const end = isCut ? pairing.end : Infinity;
  const changed = pairing.pairByHead();
  const gone = old.map((_, at) => at).filter((at) => !pairing.paired.has(at));
  // Behind the lines of which something is known only a message is sure to be new.
  const rest = messagesAmong(listing.slice(end).map(({ entry }) => entry));
  const found = {
    isNew: true, isElsewhere, redrawn: 0, kept, appeared: [...pairing.unpaired(end).map(({ entry }) => entry), ...rest],
    changed: changed.map(({ entry }) => entry), disappeared: isCut || gone.length > kept / 4 ? [] : gone,
  };
  return { ...found, controls: isSamePage(before, found) ? [] : mainControls(young.map(({ entry }) => entry), same) };
}

/** True for a page that came again as it was. */
const isSamePage = (before, { appeared, changed, disappeared }) =>
  before?.url === describePage().url && !appeared.length && !changed.length && !disappeared.length;

/** Pairs the lines of two documents: first by their text, in their order, then those that moved. */
class Pairing {
  constructor(old, young) {
    this.old = old;
    this.young = young;
    this.paired = new Set();
    this.places = new Set();
    const listings = [old.map(({ line }, at) => [at, line]), young.map((each) => [each, each.line])];
    for (const [before, after] of aligned(...listings)) this.pair(before, after);
    this.pairBy('line');
  }

  /** The young lines with a partner. */
  get kept() {
    return this.young.filter((_, at) => this.places.has(at));
  }

  pair(before, after) {
    this.paired.add(before);
    this.places.add(after);
  }

  /** Pairs those left that have the same role and name; returns the young ones. */
  pairByHead() {
    return this.pairBy('head').map((at) => this.young[at]);
  }

  /** The young lines without a partner, before this place. */
  unpaired(end) {
    return this.young.filter((_, at) => at < end && !this.places.has(at));
  }

  /** The place behind the last young line that has a partner. */
  get end() {
    return Math.max(0, ...this.places) + 1;
  }

  /** Pairs those left whose hashes of this kind are equal, in order; returns the places of the young ones. */
  pairBy(kind) {
    const left = new Map();
    this.old.forEach((each, at) => {
      if (this.paired.has(at)) return;
      if (!left.has(each[kind])) left.set(each[kind], []);
      left.get(each[kind]).push(at);
    });
    const found = [];
    this.young.forEach((each, at) => {
      const alike = this.places.has(at) ? undefined : left.get(each[kind])?.shift();
      if (alike === undefined) return;
      this.pair(alike, at);
      found.push(at);
    });
    return found;
  }
}
