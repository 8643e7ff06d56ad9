// Roles of elements: the explicit one, or the one that HTML gives.
const wordSet = (words) => new Set(words.trim().split(/\s+/));

const KNOWN_ROLES = wordSet(`
  alert alertdialog application article associationlist associationlistitemkey associationlistitemvalue banner
  blockquote button caption cell checkbox code columnheader combobox comment complementary contentinfo definition
  deletion dialog directory document emphasis feed figure form generic grid gridcell group heading image img insertion
  link list listbox listitem log main mark marquee math menu menubar menuitem menuitemcheckbox menuitemradio meter
  navigation none note option paragraph presentation progressbar radio radiogroup region row rowgroup rowheader
  scrollbar search searchbox sectionfooter sectionheader separator slider spinbutton status strong subscript suggestion
  superscript switch tab table tablist tabpanel term textbox time timer toolbar tooltip tree treegrid treeitem`);

/** Roles that only format text: the text has a line, they have one only with a label. */
const TEXTUAL_ROLES = wordSet(`
  associationlist associationlistitemkey associationlistitemvalue blockquote caption code definition deletion emphasis
  generic insertion mark none paragraph presentation rowgroup sectionfooter sectionheader strong subscript suggestion
  superscript term time`);

/** The textual roles that HTML gives. */
const NATIVE_TEXTUAL_ROLES = new Map(Object.entries({
  blockquote: 'blockquote', caption: 'caption', code: 'code', dd: 'definition', del: 'deletion', dfn: 'term',
  dt: 'term', em: 'emphasis', ins: 'insertion', mark: 'mark', math: 'math', p: 'paragraph', s: 'deletion',
  strong: 'strong', sub: 'subscript', sup: 'superscript', tbody: 'rowgroup', tfoot: 'rowgroup', thead: 'rowgroup',
  time: 'time', address: 'group', hgroup: 'group',
}));

const INTERACTIVE_ROLES = wordSet(`
  button checkbox combobox link listbox menuitem menuitemcheckbox menuitemradio option radio scrollbar searchbox slider
  spinbutton switch tab textbox treeitem iframe video audio`);

/** Roles whose name is their content. */
const CONTENT_ROLES = wordSet(`
  button checkbox columnheader heading link menuitem menuitemcheckbox menuitemradio option radio rowheader switch tab
  tooltip`);

/** Roles whose name is their content if nothing inside has a line of its own. */
const SIMPLE_CONTENT_ROLES = wordSet('cell gridcell clickable');

const INPUT_ROLES = {
  button: 'button', submit: 'button', reset: 'button', image: 'button', file: 'button', checkbox: 'checkbox',
  radio: 'radio', number: 'spinbutton', range: 'slider', search: 'searchbox', hidden: '',
};

const SECTIONS = `article,aside,nav,section,[role="article"],[role="complementary"],[role="navigation"],[role="region"]`;
const SECTIONING = `main,[role="main"],${SECTIONS}`;
const landmark = (role) => (element) => (dom.closest(element, SECTIONING) ? '' : role);

/** An aside of a part of the page is a landmark only if it has a name. */
function asideRole(aside) {
  const parent = dom.parent(aside);
  const isPart = parent && dom.type(parent) === ELEMENT && dom.closest(parent, SECTIONS);
  return !isPart || authorName(aside) ? 'complementary' : '';
}

const nextElement = reader(Element, 'nextElementSibling');

const inTable = (role) => (element) => {
  const table = dom.closest(element, 'table');
  if (table && isPresentational(table)) return '';
  return typeof role === 'string' ? role : role(element, table);
};
const always = (role) => () => role;

const cellRole = (cell, table) =>
  (table && /^(grid|treegrid)$/.test(attribute(table, 'role') ?? '') ? 'gridcell' : 'cell');

/** A header without a scope is that of its row if there are data cells in the row, and of no other cell if it is alone. */
function headerRole(cell, table) {
  const scope = /^(row|col)/i.exec(attribute(cell, 'scope') ?? '');
  if (scope) return lower(scope[1]) === 'row' ? 'rowheader' : 'columnheader';
  const row = dom.parent(cell);
  if (!row || dom.type(row) !== ELEMENT) return 'columnheader';
  if (holdsData(row)) return 'rowheader';
  const isAlone = dom.firstElement(row) === cell && !nextElement(cell);
  return isAlone && table && queryAll(table, 'tr').length === 1 ? '' : 'columnheader';
}

/** True if there are data cells in a row: looked for once for all of its headers. */
const holdsData = onceATurn(hasDataCell);

function hasDataCell(row) {
  // The empty corner of a head is no data.
  const isHead = dom.tag(dom.parent(row) ?? row) === 'thead';
  for (let each = dom.firstElement(row); each; each = nextElement(each)) {
    if (dom.tag(each) === 'td' && !(isHead && !normal(dom.textContent(each)))) return true;
  }
  return false;
}

/** An item is one only in a list, which has not given up its role or taken another one. */
function itemRole(item) {
  const list = dom.closest(dom.slotOf(item) ?? item, 'ul,ol,menu,[role]:not(li)');
  if (!list) return '';
  return !dom.has(list, 'role') || roleOf(list) === 'list' ? 'listitem' : '';
}

/** Only the first summary of details opens and closes them. */
function summaryRole(summary) {
  const parent = dom.parent(summary);
  const isFirst = parent && dom.type(parent) === ELEMENT && dom.tag(parent) === 'details' &&
    captionOf(parent, 'summary') === summary;
  return isFirst ? 'button' : '';
}

function inputRole(input) {
  const role = INPUT_ROLES[input.type];
  if (role !== undefined && role !== 'searchbox') return role;
  return LISTED_INPUT.test(input.type) && dom.has(input, 'list') && listOf(input) ? 'combobox' : role ?? 'textbox';
}

const LISTED_INPUT = /^(text|search|url|tel|email)$/;

function listOf(input) {
  const list = sibling(input, attribute(input, 'list'));
  return list && dom.tag(list) === 'datalist' ? list : null;
}

function imageRole(image) {
  const isDecoration = attribute(image, 'alt') === '' && !authorName(image) && !isExposed(image);
  return isDecoration ? '' : 'img';
}

const NATIVE_ROLES = new Map(Object.entries({
  a: (e) => (dom.has(e, 'href') ? 'link' : ''),
  area: (e) => (dom.has(e, 'href') ? 'link' : ''),
  button: always('button'),
  summary: summaryRole,
  input: inputRole,
  select: (e) => (isClosed(e) ? 'combobox' : 'listbox'),
  option: always('option'),
  optgroup: always('group'),
  textarea: always('textbox'),
  h1: always('heading'), h2: always('heading'), h3: always('heading'),
  h4: always('heading'), h5: always('heading'), h6: always('heading'),
  nav: always('navigation'),
  main: always('main'),
  header: landmark('banner'),
  footer: landmark('contentinfo'),
  aside: asideRole,
  search: always('search'),
  section: (e) => (ariaName(e) ? 'region' : ''),
  form: (e) => (ariaName(e) ? 'form' : ''),
  article: always('article'),
  ul: always('list'), ol: always('list'), menu: always('list'),
  li: itemRole,
  table: always('table'),
  tr: inTable('row'),
  td: inTable(cellRole),
  th: inTable(headerRole),
  img: imageRole,
  dialog: always('dialog'),
  details: always('group'),
  fieldset: always('group'),
  figure: always('figure'),
  progress: always('progressbar'),
  meter: always('meter'),
  output: always('status'),
  hr: always('separator'),
  iframe: always('iframe'), frame: always('iframe'),
  video: always('video'),
  audio: (e) => (e.controls ? 'audio' : ''),
}));

/** The role in an element's line; '' for an element without a line. */
function roleOf(element) {
  const explicit = attribute(element, 'role');
  if (explicit) {
    for (const token of lower(explicit).trim().split(/\s+/)) {
      if (!KNOWN_ROLES.has(token) || (UNNAMED.test(token) && !authorName(element))) continue;
      if (token === 'image') return 'img';
      if (!TEXTUAL_ROLES.has(token)) return token;
      if (!NO_ROLE.test(token) || !isExposed(element)) return '';
      break;
    }
  }
  if (!inHtml(element)) return svgRole(element);
  const native = NATIVE_ROLES.get(dom.tag(element))?.(element) ?? '';
  return native || (isEditingHost(element) ? 'textbox' : '');
}

const NO_ROLE = /^(none|presentation)$/;

/** Roles that an element has only with a name. */
const UNNAMED = /^(region|form)$/;

/** The role of an element that has a line only for its label: a textual one or `generic`; '' without a label. */
function labelledRole(element) {
  if (!dom.hasAny(element) || !(dom.has(element, 'aria-label') || dom.has(element, 'aria-labelledby'))) return '';
  const name = ariaName(element);
  const text = name ? onlyText(element) : null;
  if (!name || (text !== null && normal(text) === name)) return '';
  const given = lower(attribute(element, 'role') ?? '').trim().split(/\s+/).find((token) => KNOWN_ROLES.has(token));
  const role = given ?? NATIVE_TEXTUAL_ROLES.get(dom.tag(element)) ?? 'generic';
  return NO_ROLE.test(role) ? 'generic' : role;
}

/** True for an element whose role is given up by its author, and nothing else makes it more than its content. */
const isPresentational = (element) => NO_ROLE.test(attribute(element, 'role')?.trim() ?? '') && !isExposed(element);

const GLOBAL_ARIA = new RegExp(`^aria-(?:${`
  atomic braille busy controls current desc details dropeffect flowto grabbed keyshortcuts label live owns relevant
  roledesc`.trim().replace(/\s+/g, '|')})`);

/** True for an element that is no mere decoration, whatever its role says: it can have focus, or ARIA describes it. */
const isExposed = (element) => canFocus(element) || dom.attributes(element).some((name) => GLOBAL_ARIA.test(name));

function svgRole(element) {
  const tag = dom.tag(element);
  if (tag === 'a') return dom.has(element, 'href') || dom.has(element, 'xlink:href') ? 'link' : '';
  return tag === 'svg' && (authorName(element) || svgTitle(element)) ? 'img' : '';
}

/** True for the outermost element of an editable region. */
function isEditingHost(element) {
  const editable = attribute(element, 'contenteditable');
  return editable !== null && editable.toLowerCase() !== 'false' && inHtml(element) && dom.editable(element);
}

const FOCUSABLE = 'a[href],button:enabled,input:enabled,select:enabled,textarea:enabled,summary,iframe';

function canFocus(element) {
  return dom.has(element, 'tabindex') || dom.matches(element, FOCUSABLE);
}

/** True for an element without a role that reacts to clicks. */
function isClickable(element, style, inheritedPointer) {
  if (isPage(dom.tag(element))) return false;
  return takesClicks(element) || (style.cursor === 'pointer' && !inheritedPointer);
}

/** True for an element that declares it by attribute or handler, whatever the pointer looks like there. */
const takesClicks = (element) => dom.has(element, 'onclick') || (inHtml(element)
  ? (hasClickHandler(element) && !isMount(element)) || (dom.has(element, 'tabindex') && dom.tabIndex(element) >= 0)
  : Number(attribute(element, 'tabindex') ?? -1) >= 0);

/** True for the element in which a framework renders the whole page: a handler there proves nothing about clicks. */
function isMount(element) {
  const parent = dom.parent(element);
  return parent !== null && dom.tag(parent) === 'body' && hasMatch(element, STRUCTURE);
}

/** Parts of a drawing that make it more than a picture. */
const DRAWN = 'a,text,foreignObject,[role],[tabindex],[onclick],:not(svg)>title';
const isDiagram = (svg) => hasMatch(svg, DRAWN);

const STRUCTURE = `a[href],button,input,select,textarea,summary,iframe,video,audio,table,ul,ol,dl,h1,h2,h3,h4,h5,h6,
  article,section,form,fieldset,figure,[role]:not([role=presentation],[role=none]),[tabindex]:not([tabindex^="-"]),
  [onclick],[contenteditable]`;

/** True if nothing inside has a line of its own, so that the content can be the name. */
const isSimple = (element) =>
  !dom.shadow(element) && (dom.firstElement(element) === null || !hasMatch(element, STRUCTURE));

/** True if the element's content is its name and has no lines below it. */
const isContentNamed = (element, role) =>
  CONTENT_ROLES.has(role) || role === 'treeitem' || (SIMPLE_CONTENT_ROLES.has(role) && isSimple(element));
