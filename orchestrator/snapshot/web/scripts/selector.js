// Writes selectors that find an element again, in the grammar of the tools: testid=, role=, CSS.
const known = { entries: null, find: null };

/** A function from an entry to {selector, cssSelector}; names are counted once for all entries. */
function selectorsFor(entries) {
  if (known.entries === entries) return known.find;
  const names = new Map();
  for (const entry of looked(entries)) if (entry.hasRef) count(names, nameKey(entry));
  if (looking.isOver) {
    // Which names are there once is unknown.
    names.clear();
    beginLook();
  }
  const testIds = new Map();
  for (const element of everywhere(window.document, '[data-testid]')) count(testIds, attribute(element, 'data-testid'));
  known.entries = entries;
  known.find = (entry) => {
    const cssSelector = framed(entry.element, cssPath(entry.element));
    return { selector: shortSelector(entry, names, testIds) ?? cssSelector, cssSelector };
  };
  return known.find;
}

const count = (counts, key) => counts.set(key, (counts.get(key) ?? 0) + 1);
const nameKey = (entry) => `${entry.shownRole} ${entry.name}`;

function shortSelector(entry, names, testIds) {
  const testId = attribute(entry.element, 'data-testid');
  if (testId && testIds.get(testId) === 1) return `testid=${testId}`;
  const name = shown(entry.name);
  if (!name || name !== entry.name || names.get(nameKey(entry)) !== 1) return null;
  return `role=${entry.shownRole}[name=${quoted(name)}]`;
}

/** A path of CSS from the nearest ancestor with an id of its own, within the element's tree. */
function cssPath(element) {
  const steps = [];
  const root = dom.root(element);
  for (let at = element; at && dom.type(at) === ELEMENT; at = dom.parent(at)) {
    const id = dom.id(at);
    if (id && queryAll(root, `#${CSS.escape(id)}`).length === 1) {
      steps.unshift(`#${CSS.escape(id)}`);
      break;
    }
    steps.unshift(cssStep(at));
  }
  return steps.join(' > ');
}

function cssStep(element) {
  const tag = dom.tag(element);
  let index = 1;
  for (let node = dom.previous(element); node; node = dom.previous(node)) {
    if (dom.type(node) === ELEMENT && dom.tag(node) === tag) index += 1;
  }
  return tag === 'html' || tag === 'body' ? tag : `${CSS.escape(tag)}:nth-of-type(${index})`;
}

/** `frame >> selector` for an element in a frame. */
function framed(element, selector) {
  const around = frameOf(dom.document(element));
  return around ? framed(around, `${cssPath(around)} >> ${selector}`) : selector;
}
