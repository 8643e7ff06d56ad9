// Makes page text safe to show: one line, bounded, and never mistakable for a line or a ref of ours.
const LONGEST = 200;
const INVISIBLE = /[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;
const BLANK = /[\s\u0000-\u001f\u007f-\u009f]+/g;

/** White space and control characters become single spaces; what cannot be seen goes. */
const normal = (text) => text.replace(INVISIBLE, '').replace(BLANK, ' ').trim();

/** `text` on one line, cut at the longest that an outline shows. */
function shown(text) {
  const line = normal(text.length > 20 * LONGEST ? text.slice(0, 20 * LONGEST) : text);
  if (line.length <= LONGEST) return line;
  const half = line.charCodeAt(LONGEST - 1) >> 10 === 0x36;
  return `${line.slice(0, half ? LONGEST - 1 : LONGEST)}…`;
}

const quoted = (text) => `"${shown(text).replace(/[\\"]/g, '\\$&')}"`;

/** Running text: what looks like a ref gets a backslash that shows. */
const plain = (text) => shown(text).replace(/(\\*)\[(?=e\d+\])/g, '$1$1\\[');

/** Lower case of the same length, so that positions stay true. */
function lower(text) {
  const small = text.toLowerCase();
  if (small.length === text.length) return small;
  return text.split('').map((char) => (char.toLowerCase().length === 1 ? char.toLowerCase() : char)).join('');
}

/** How well `text` answers `wanted`: 0 exactly, 1 but for case, 2 contained, -1 not at all. */
function likeness(text, wanted) {
  if (text === wanted) return 0;
  const small = lower(text);
  const sought = lower(wanted);
  if (small === sought) return 1;
  return sought && small.includes(sought) ? 2 : -1;
}

/** A glob (`*` any run, `?` one character) as an anchored pattern. */
const globPattern = (glob) =>
  new RegExp(`^${glob.replace(/[.+^${}()|[\]\\]/g, '\\$&').replace(/\*/g, '[^]*').replace(/\?/g, '[^]')}$`);

/** A short CSS-like name for messages: #id, tag.class or tag. */
function nickname(element) {
  const id = dom.id(element);
  if (id) return `#${shown(id)}`;
  const first = dom.classes(element)[0];
  return first ? `${dom.tag(element)}.${shown(first)}` : dom.tag(element);
}
