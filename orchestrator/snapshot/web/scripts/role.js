// Roles of elements: the explicit one, or the one that HTML gives.
const wordSet = (words) => new Set(words.trim().split(/\s+/));

const KNOWN_ROLES = wordSet(`
  alert alertdialog application article banner blockquote button caption cell checkbox code columnheader combobox
  complementary contentinfo definition deletion dialog directory document emphasis feed figure form generic grid
  gridcell group heading image img insertion link list listbox listitem log main marquee math menu menubar menuitem
  menuitemcheckbox menuitemradio meter navigation none note option paragraph presentation progressbar radio radiogroup
  region row rowgroup rowheader scrollbar search searchbox separator slider spinbutton status strong subscript
  superscript switch tab table tablist tabpanel term textbox time timer toolbar tooltip tree treegrid treeitem`);

/** Roles that only format text: the text has a line, they have none. */
const TEXTUAL_ROLES = wordSet(`
  blockquote caption code deletion emphasis generic insertion none paragraph presentation rowgroup strong subscript
  superscript term definition time`);

const INTERACTIVE_ROLES = wordSet(`
  button checkbox combobox link listbox menuitem menuitemcheckbox menuitemradio option radio scrollbar searchbox slider
  spinbutton switch tab textbox treeitem iframe video audio`);

/** Roles whose name is their content. */
const CONTENT_ROLES = wordSet(`
  button checkbox columnheader heading link menuitem menuitemcheckbox menuitemradio option radio rowheader switch tab
  tooltip`);

/** Roles whose name is their content if nothing inside has a line of its own. */
const SIMPLE_CONTENT_ROLES = wordSet('cell gridcell treeitem clickable');

const INPUT_ROLES = {
  button: 'button', submit: 'button', reset: 'button', image: 'button', file: 'button', checkbox: 'checkbox',
  radio: 'radio', number: 'spinbutton', range: 'slider', search: 'searchbox', hidden: '',
};

const SECTIONING = 'article,aside,main,nav,section';
const landmark = (role) => (element) => (dom.closest(element, SECTIONING) ? '' : role);
const inTable = (role) => (element) => {
  const table = dom.closest(element, 'table');
  const given = table && attribute(table, 'role');
  if (given && /^(none|presentation)$/.test(given)) return '';
  return typeof role === 'string' ? role : role(element, given);
};
const always = (role) => () => role;

function headerRole(cell) {
  const scope = attribute(cell, 'scope');
  if (scope) return scope.startsWith('row') ? 'rowheader' : 'columnheader';
  const row = dom.parent(cell);
  return !dom.closest(cell, 'thead') && row && hasMatch(row, ':scope > td') ? 'rowheader' : 'columnheader';
}

const NATIVE_ROLES = new Map(Object.entries({
  a: (e) => (dom.has(e, 'href') ? 'link' : ''),
  area: (e) => (dom.has(e, 'href') ? 'link' : ''),
  button: always('button'),
  summary: always('button'),
  input: (e) => INPUT_ROLES[e.type] ?? (dom.has(e, 'list') ? 'combobox' : 'textbox'),
  select: (e) => (e.multiple || e.size > 1 ? 'listbox' : 'combobox'),
  option: always('option'),
  textarea: always('textbox'),
  h1: always('heading'), h2: always('heading'), h3: always('heading'),
  h4: always('heading'), h5: always('heading'), h6: always('heading'),
  nav: always('navigation'),
  main: always('main'),
  header: landmark('banner'),
  footer: landmark('contentinfo'),
  aside: always('complementary'),
  search: always('search'),
  section: (e) => (authorName(e) ? 'region' : ''),
  form: (e) => (authorName(e) ? 'form' : ''),
  article: always('article'),
  ul: always('list'), ol: always('list'), menu: always('list'),
  li: always('listitem'),
  table: always('table'),
  tr: inTable('row'),
  td: inTable((e, given) => (/^(grid|treegrid)$/.test(given ?? '') ? 'gridcell' : 'cell')),
  th: inTable(headerRole),
  img: (e) => (attribute(e, 'alt') === '' && !authorName(e) ? '' : 'img'),
  canvas: (e) => (authorName(e) ? 'img' : ''),
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
    for (const token of explicit.toLowerCase().split(/\s+/)) {
      if (!KNOWN_ROLES.has(token)) continue;
      if (token === 'image') return 'img';
      if (!TEXTUAL_ROLES.has(token)) return token;
      if (!/^(none|presentation)$/.test(token) || !canFocus(element)) return '';
      break;
    }
  }
  if (!inHtml(element)) return svgRole(element);
  const native = NATIVE_ROLES.get(dom.tag(element))?.(element) ?? '';
  return native || (isEditingHost(element) ? 'textbox' : '');
}

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

function canFocus(element) {
  return dom.has(element, 'tabindex') || dom.matches(element, 'a[href],button,input,select,textarea,summary,iframe');
}

/** True for an element without a role that reacts to clicks. */
function isClickable(element, style, inheritedPointer) {
  if (isPage(dom.tag(element))) return false;
  return takesClicks(element) || (style.cursor === 'pointer' && !inheritedPointer);
}

/** True for an element that declares it by attribute or handler, whatever the pointer looks like there. */
const takesClicks = (element) => dom.has(element, 'onclick') || (inHtml(element)
  ? (dom.clickHandler(element) !== null && !isMount(element)) || (dom.has(element, 'tabindex') && dom.tabIndex(element) >= 0)
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
  article,section,form,fieldset,figure,[role],[tabindex],[onclick],[contenteditable]`;

/** True if nothing inside has a line of its own, so that the content can be the name. */
const isSimple = (element) =>
  !dom.shadow(element) && (dom.firstElement(element) === null || !hasMatch(element, STRUCTURE));

/** True if the element's content is its name and has no lines below it. */
const isContentNamed = (element, role) =>
  CONTENT_ROLES.has(role) || (SIMPLE_CONTENT_ROLES.has(role) && isSimple(element));
