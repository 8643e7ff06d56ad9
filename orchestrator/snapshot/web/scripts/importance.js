// Orders lines by what a reader needs first, where not all of them can be told.
/** The roles that say what a part of a page is for; `around` is what surrounds every page of a site. */
const PARTS = new Map(Object.entries({
  alert: 'alert', status: 'status', dialog: 'dialog', alertdialog: 'dialog', main: 'main', banner: 'around',
  navigation: 'around', contentinfo: 'around', complementary: 'around', search: 'around',
}));
const ORDER = ['alert', 'status', 'dialog', 'error', 'main', '', 'around', 'options'];
/** The order in a page of another site, which the reader does not know. */
const ORDER_ELSEWHERE = ['alert', 'status', 'dialog', 'error', 'heading', 'main', 'control', '', 'around', 'options'];

/** Classes by which pages without ARIA call messages, and errors of fields. */
const MESSAGE = /(?:^|[-_])(?:alert|flash|toast|snackbar|notice)s?(?:$|[-_])/i;
const ERROR = /(?:^|[-_])(?:error|invalid)(?:$|[-_]|s$|list)/i;

/** The entries in the order in which they are told; those of one part of the page stay in theirs. */
function byImportance(entries, isElsewhere) {
  const order = isElsewhere ? ORDER_ELSEWHERE : ORDER;
  const parts = new PartFinder();
  const partOf = (entry) => (isElsewhere ? parts.detailOf(entry) : parts.partOf(entry));
  const ranks = new Map(entries.map((entry) => [entry, order.indexOf(partOf(entry))]));
  return [...entries].sort((one, other) => ranks.get(one) - ranks.get(other));
}

const MESSAGES = new Set(['alert', 'status', 'dialog', 'error']);

/** The entries that are part of a message. */
function messagesAmong(entries) {
  const parts = new PartFinder();
  return entries.filter((entry) => MESSAGES.has(parts.partOf(entry)));
}

/**
 * What can be acted on in the main part of a page; of those that are the `same` as before the first of each role and name.
 * Without such a part it is what is in no landmark; there links of before count only between lines that are new.
 */
function mainControls(entries, same) {
  const landmarks = new Map();
  const isIn = (entry, landmark) => landmarkAround(entry.element, landmarks) === landmark;
  const main = entries.filter((entry) => isIn(entry, 'main'));
  const news = main.length ? entries : entries.filter((entry) => !same.has(entry));
  const [from, to] = [entries.indexOf(news[0]), entries.indexOf(news.at(-1))];
  const isAmong = (entry, at) => isIn(entry, '') && (entry.role !== 'link' || (at > from && at < to));
  const controls = (main.length ? main : entries.filter(isAmong)).filter(takesActions);
  const firsts = firstOfEachKind(controls.filter((entry) => same.has(entry)));
  return controls.filter((entry) => !same.has(entry) || firsts.has(entry));
}

function landmarkAround(element, known) {
  if (!known.has(element)) {
    const part = PARTS.get(roleOf(element));
    const above = outer(element) ?? frameOf(dom.document(element));
    known.set(element, part === 'main' || part === 'around' ? part : above ? landmarkAround(above, known) : '');
  }
  return known.get(element);
}

const takesActions = ({ role }) => role === 'clickable' || (role !== 'option' && INTERACTIVE_ROLES.has(role));

/** The first entry of each role and name, which then says of how many. */
function firstOfEachKind(entries) {
  const firsts = new Map();
  for (const entry of entries) {
    const kind = `${entry.shownRole} ${entry.name}`;
    if (!firsts.has(kind)) firsts.set(kind, entry);
    firsts.get(kind).equals += 1;
  }
  return new Set(firsts.values());
}

const isNoLink = ({ role }) => role !== 'link';
const linksLast = (entries) => [...entries.filter(isNoLink), ...entries.filter((entry) => !isNoLink(entry))];

class PartFinder {
  constructor() {
    this.known = new Map();
    for (const field of everywhere(window.document, '[aria-invalid]')) if (isInvalid(field)) this.noteErrors(field);
  }

  /** Notes what describes a field that is wrong. */
  noteErrors(field) {
    for (const name of ['aria-errormessage', 'aria-describedby']) {
      for (const element of referencesOf(field, name)) this.known.set(element, 'error');
    }
  }

  partOf({ element, role }) {
    return role === 'more' || (role === 'option' && isInClosedSelect(element)) ? 'options' : this.around(element);
  }

  /** The part, and where the page has no such parts, or in its main one, if it is a heading or control. */
  detailOf(entry) {
    const part = this.partOf(entry);
    if (entry.role === 'heading' && (part === 'main' || part === '')) return 'heading';
    return part === '' && INTERACTIVE_ROLES.has(entry.role) ? 'control' : part;
  }

  around(element) {
    if (!this.known.has(element)) {
      const above = outer(element);
      this.known.set(element, ownPart(element) ?? (above ? this.around(above) : ''));
    }
    return this.known.get(element);
  }
}

/** The part of the page that an element makes, or null. */
function ownPart(element) {
  const part = PARTS.get(roleOf(element));
  if (part) return part;
  if (isInvalid(element)) return 'error';
  if (isPage(dom.tag(element))) return null;
  for (const name of dom.classes(element)) {
    if (MESSAGE.test(name)) return 'alert';
    if (ERROR.test(name)) return 'error';
  }
  return null;
}

function isInClosedSelect(option) {
  const select = dom.closest(option, 'select');
  return select !== null && isClosed(select);
}
