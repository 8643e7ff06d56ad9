// Notes the fields for which the browser refuses a form, and its own sentence about each.
const MOST_REFUSED = 100;
const MOST_TOLD = 10;

/** The fields of `invalid` events, oldest first: the number of the last one for each. */
let refusals = [];
let refusalsHeard = 0;

/** Hears refusals in a tree from now on: `invalid` events neither bubble nor leave their tree. */
const hearRefusals = (root) => listen(root, 'invalid', noteRefusal, true);

function noteRefusal({ target, isTrusted }) {
  if (!isTrusted) return;
  refusalsHeard += 1;
  const others = refusals.filter(({ field }) => field.deref() !== target).slice(1 - MOST_REFUSED);
  refusals = [...others, { field: new WeakRef(target), number: refusalsHeard, isShown: isRefusedToUser(target) }];
}

/**
 * True for a field that the user was told about. Pages send the same event by `checkValidity()` at every key, which
 * tells nobody: it leaves fields as they are, where submitting marks them and `reportValidity()` focuses the first.
 */
const isRefusedToUser = (field) => dom.matches(field, ':user-invalid');

/** The fields refused after this event that are still invalid, with the browser's sentence; and how many more. */
function refusedSince(number, focused) {
  const told = [];
  for (const refusal of refusals) {
    const field = refusal.field.deref();
    if (refusal.number <= number || !field || !isLive(field) || !dom.matches(field, ':invalid')) continue;
    if (refusal.isShown || focused.has(field)) told.push(field);
  }
  return { invalid: told.slice(0, MOST_TOLD).map(describeRefusal), unsaid: Math.max(0, told.length - MOST_TOLD) };
}

const describeRefusal = (field) =>
  ({ field: shown(nameOf(field)) || lineFor(field), message: refusalMessage(field) || 'not valid' });

const messagesOf = {
  input: reader(HTMLInputElement, 'validationMessage'),
  select: reader(HTMLSelectElement, 'validationMessage'),
  textarea: reader(HTMLTextAreaElement, 'validationMessage'),
  button: reader(HTMLButtonElement, 'validationMessage'),
};

/** The browser's sentence, without a password; '' for a custom element, which keeps it to itself. */
function refusalMessage(field) {
  const tag = inHtml(field) ? dom.tag(field) : '';
  const message = Object.hasOwn(messagesOf, tag) ? messagesOf[tag](field) : '';
  const secret = isSecret(field) ? rawValue(field) : '';
  return shown(secret ? message.replaceAll(secret, MASK) : message);
}

hearRefusals(window.document);
