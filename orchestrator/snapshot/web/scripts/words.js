// Makes page text safe to show: one line, bounded, and never mistakable for a line or a ref of ours.
const LONGEST = 200;
/** Characters without a width, and those of private use: they show the pictures of icon fonts, and say nothing. */
const INVISIBLE =
  /[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ue000-\uf8ff\ufeff]|[\udb80-\udbff][\udc00-\udfff]/g;
const BLANK = /[\s\u0000-\u001f\u007f-\u009f]+/g;

/** Matches the texts that `normal` need not change: most of them, and one test is much cheaper than two replacements. */
const WORD =
  '[!-~\\u00a1-\\u00ac\\u00ae-\\u167f\\u1681-\\u1fff\\u2070-\\u2fff\\u3001-\\udb7f\\udc00-\\udfff\\uf900-\\ufefe\\uff00-\\uffff]+';
const TIDY = new RegExp(`^(?:${WORD}(?: ${WORD})*)?$`);

/** A longer text overflows the stack of the pattern. */
const LONGEST_TESTED = 100_000;

/** The text with single spaces for white space and control characters, and without invisible characters. */
const normal = (text) => (text.length < LONGEST_TESTED && TIDY.test(text) ? text
  : text.replace(INVISIBLE, '').replace(BLANK, ' ').trim());

/** `text` on one line, cut at the length that an outline shows. */
function shown(text) {
  return cut(normal(text.length > 20 * LONGEST ? text.slice(0, 20 * LONGEST) : text), LONGEST);
}

/** The beginning of a text, and an ellipsis where there is more; no pair of code units is cut in two. */
function cut(text, longest) {
  if (text.length <= longest) return text;
  const half = text.charCodeAt(longest - 1) >> 10 === 0x36;
  return `${text.slice(0, half ? longest - 1 : longest)}…`;
}

const quoted = (text) => `"${shown(text).replace(/[\\"]/g, '\\$&')}"`;

/** Running text, with a visible backslash before everything that looks like a ref. */
const plain = (text) => shown(text).replace(/(\\*)\[(?=e\d+\])/g, '$1$1\\[');

/** Lower case of the same length, so that positions stay true. */
function lower(text) {
  const small = text.toLowerCase();
  if (small.length === text.length) return small;
  return text.split('').map((char) => (char.toLowerCase().length === 1 ? char.toLowerCase() : char)).join('');
}

/** The rank of a match: 0 exact or of a regular expression, 1 but for case, 2 contained, -1 no match. */
function likeness(text, wanted) {
  if (wanted instanceof RegExp) return wanted.test(text) ? 0 : -1;
  if (text === wanted) return 0;
  const small = lower(text);
  const sought = lower(wanted);
  if (small === sought) return 1;
  return sought && small.includes(sought) ? 2 : -1;
}

/** A glob (`*` any run, `?` one character) as an anchored pattern. */
const globPattern = (glob) =>
  new RegExp(`^${glob.replace(/[.+^${}()|[\]\\]/g, '\\$&').replace(/\*/g, '[^]*').replace(/\?/g, '[^]')}$`);

/** A URL, or the one that an address is at a base; null for what is none. */
function parsedUrl(url, base) {
  try {
    return new URL(url, base);
  } catch {
    return null;
  }
}

/** The URL without user and password: answers are logged and stored where others may read them. */
const withoutUser = (url) => url.replace(/^([a-z][a-z\d+.-]*:\/\/)[^/?#]*@/i, '$1');
const addressOf = (doc) => withoutUser(dom.url(doc));

/** A short CSS-like name for messages: #id, tag.class or tag. */
function nickname(element) {
  const id = dom.id(element);
  if (id) return `#${shown(id)}`;
  const first = dom.classes(element)[0];
  return first ? `${dom.tag(element)}.${shown(first)}` : dom.tag(element);
}
