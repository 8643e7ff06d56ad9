// The focus of the page, and texts that are typed into the field that has it and nowhere else.
const focus = { field: null };

/**
 * The origin of a document as browsers compare origins: `null` for one of its own, as in a sandbox. A document without
 * a URL, such as that of srcdoc, has the origin of the page around it.
 */
function ownerOf(doc) {
  let view = dom.window(doc);
  if (view.origin === 'null') return 'null';
  while (view !== window && view.location.origin === 'null') view = view.parent;
  return view.location.origin;
}

/** The element that has the focus, or where it would go: the one acted on last, if it takes text. */
function fieldToType(acted) {
  if (acted && isLive(acting.element) && TEXT_KINDS.has(kindOf(acting.element))) return acting.element;
  return [...focusedElements()].pop() ?? null;
}

/**
 * focused({acted?}): where the focus is: the document's origin and the kind of its field, or a frame of another origin.
 * `code` if that is a box of a code.
 * With `acted` it is about the field that was acted on last, whatever has taken the focus since.
 */
function focused({ acted }) {
  const last = fieldToType(acted);
  const kind = last ? kindOf(last) : '';
  focus.field = TEXT_KINDS.has(kind) ? last : null;
  const isClosed = last !== null && isFrame(last) && !innerDocument(last);
  return {
    origin: window.location.origin, owner: ownerOf(last ? dom.document(last) : window.document),
    kind: focus.field ? kind : '', secret: last !== null && isSecret(last),
    code: focus.field !== null && codeGroupOf(focus.field) !== null ? true : undefined,
    frame: isClosed ? { path: pathTo(last), ref: refOf(last) } : undefined,
  };
}

/**
 * typed({value?, replace?, acted?}): types into the field that `focused` found, or with `acted` into the one that was
 * acted on last. It gets the focus of its document for that; the browser's own keys would go to whichever frame has the
 * focus by then. Without a value it is about to be typed by keys. From now on the field counts as one for passwords.
 * `same` if it holds the value now, or is gone.
 */
function typed({ value = '', replace, acted }) {
  const field = acted ? acting.element : focus.field;
  focus.field = null;
  if (!field || !isLive(field)) return { taken: false, same: false };
  dom.focus(field);
  if (!focusedElements().has(field)) return { taken: false, same: false };
  secrets.add(field);
  if (replace) selectContent(field, kindOf(field));
  const taken = !value || insertText(field, value);
  return { taken, same: !isLive(field) || (rawValue(field) ?? '').includes(value) };
}
