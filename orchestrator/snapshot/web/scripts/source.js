// Writes the HTML of a document or an element, with the values of password fields masked.

/** source({locator?}): the markup of the first match, or of the page with its doctype. */
function source({ locator }) {
  const found = locator ? mustFind(locator) : [dom.html(window.document)];
  const [element] = found;
  if (!element) return { source: '', more: false, matches: 0, ...describePage() };
  const doc = dom.document(element);
  const doctype = element === dom.html(doc) && doc.doctype ? `<!DOCTYPE ${doc.doctype.name}>\n` : '';
  const whole = doctype + dom.outerHtml(masked(element));
  return { source: beginningOf(whole), more: whole.length > MOST_TEXT, matches: found.length, ...describePage() };
}

const holdsSecret = (element) => isSecret(element) && Boolean(attribute(element, 'value'));

/** The element, or if it holds a secret a masked copy, in a document in which nothing loads or runs. */
function masked(element) {
  if (![...inputsIn(element)].some(holdsSecret)) return element;
  const copy = dom.importNode(document.implementation.createHTMLDocument(''), element, true);
  const copies = inputsIn(copy);
  let next = copies.next();
  for (const input of inputsIn(element)) {
    if (holdsSecret(input)) dom.setAttribute(next.value, 'value', MASK);
    next = copies.next();
  }
  return copy;
}

/** Every input in the markup of an element, templates included. */
function* inputsIn(element) {
  if (dom.matches(element, 'input')) yield element;
  yield* inputsBelow(element.content ?? element);
}

function* inputsBelow(node) {
  for (const each of queryAll(node, 'input,template')) yield* each.content ? inputsBelow(each.content) : [each];
}
