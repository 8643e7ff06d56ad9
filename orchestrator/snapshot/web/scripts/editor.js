// Rich editors, whose visible part forwards the focus to a hidden field.
const FIELDS = 'textarea,input,[contenteditable]:not([contenteditable=false])';
const TEXT_KINDS = new Set(['text', 'textarea', 'password', 'contenteditable']);
const LINES_READ = 5;
const LEAST_SEEN = 5;

const fieldsIn = (element) => rootsBelow(element)
  .flatMap((root) => [...queryAll(root, FIELDS)].filter((each) => TEXT_KINDS.has(kindOf(each))));

/** The only visible field in an element that takes no value itself. */
function soleFieldIn(element) {
  const seen = fieldsIn(element).filter((field) => !isUnseen(field));
  return seen.length === 1 ? seen[0] : null;
}

/** The element that contains both the given one and the hidden field for its input, or null. */
function editorOf(element) {
  for (let at = element; at && !isPage(dom.tag(at)); at = outer(at)) {
    const role = roleOf(at);
    if (role === 'button' || role === 'link') return null;
    const fields = fieldsIn(at);
    if (fields.length) return fields.every(isUnseen) ? at : null;
  }
  return null;
}

/** True for a field that only takes input: a pixel, cut off, or transparent. */
function isUnseen(field) {
  if (!isVisible(field) || styleOf(field).opacity === '0') return true;
  const part = visiblePart(field);
  return part.right - part.left < LEAST_SEEN || part.bottom - part.top < LEAST_SEEN;
}

/** The field that has the focus, if it takes text. */
const fieldInFocus = () => [...focusedElements()].reverse().find((each) => TEXT_KINDS.has(kindOf(each))) ?? null;

/** editing({slice}): waits until the editor that was clicked has given the focus to a field of its own. */
async function editing({ slice }) {
  const around = editorOf(acting.element);
  acting.editor = around;
  const attempt = () => {
    const field = isLive(acting.element) ? fieldInFocus() : null;
    const isOwn = field !== null && around !== null && isWithin(field, around);
    return { ok: isOwn, secret: isOwn && isSecret(field), line: isLive(acting.element) ? lineFor(acting.element) : '' };
  };
  const answer = await retry(slice, attempt, ({ ok }) => ok);
  return answer;
}

/**
 * pasted({value}): `taken` if the field in focus takes it as a paste. Code editors indent typed lines and close their
 * brackets, but leave a paste as it is. The event is made by script: a real one needs the machine's clipboard.
 */
function pasted({ value }) {
  const field = fieldInFocus();
  const clipboardData = new DataTransfer();
  clipboardData.setData('text/plain', value);
  // Firefox makes the clipboard of the event of its own two members, and leaves out the standard one.
  const given = { clipboardData, dataType: 'text/plain', data: value };
  const paste = new ClipboardEvent('paste', { ...given, bubbles: true, cancelable: true, composed: true });
  return { taken: field !== null && !dispatch(field, paste) };
}

/**
 * inserted({value}): `taken` if the field in focus took it in place of the selection, as one input of the browser with
 * trusted events. Line breaks and tabs are kept, where their keys would leave the field.
 */
function inserted({ value }) {
  const field = fieldInFocus();
  return { taken: field !== null && insertText(field, value) };
}

/** Inserts a text by the browser's own command; true unless that took nothing. What a page refuses counts as taken. */
function insertText(field, text) {
  if (inFirefox && !isWelcome(field, text)) return true;
  return dom.command(dom.document(field), 'insertText', false, text);
}

/** Asks the page for an insertion, which Firefox's command does without; the page may put in a text of its own. */
function isWelcome(field, data) {
  const means = { bubbles: true, cancelable: true, composed: true };
  return dispatch(field, new InputEvent('beforeinput', { ...means, inputType: 'insertText', data }));
}

/**
 * prefilled({value}): `taken` if the field in focus is a text area, which then holds the text in place of the selection.
 * There was no event: it is meant for all but the last character of a long text, which the browser inserts with one. The
 * time that the browser needs for a whole text grows with the square of its lines.
 */
function prefilled({ value }) {
  const field = fieldInFocus();
  if (!field || dom.tag(field) !== 'textarea') return { taken: false };
  const begun = field.maxLength < 0 ? value : value.slice(0, field.maxLength);
  setRangeText(field, begun, field.selectionStart, field.selectionEnd, 'end');
  return { taken: true };
}

const setRangeText = method(HTMLTextAreaElement, 'setRangeText');

/** edited({value, slice}): waits until the editor shows what was written. */
const edited = ({ value, slice }) => retry(slice, () => {
  const { editor } = acting;
  if (!isLive(editor)) return { same: false, gone: true, value: '', ...describePage() };
  return { same: showsLines(editor, value), value: shown(textOf(editor)), ...describePage() };
}, ({ same }) => same);

/** True if an editor shows the beginning of the text; it need not render more. */
function showsLines(editor, value) {
  const actual = normal(textOf(editor));
  const lines = value.split('\n').map(normal).filter(Boolean).slice(0, LINES_READ);
  return lines.length ? lines.every((line) => actual.includes(line)) : true;
}
