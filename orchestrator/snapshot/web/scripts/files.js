// Finds the file input that an element stands for, and reads back what it holds.
const isFileInput = (element) => inHtml(element) && dom.tag(element) === 'input' && element.type === 'file';

/** The element itself, its label's control, the only file input in it, near it, or in its form or document. */
function fileInputOf(element) {
  const control = controlOf(element);
  if (isFileInput(control)) return control;
  for (let at = element; at; at = outer(at)) {
    const inputs = rootsBelow(at).flatMap((root) => [...queryAll(root, 'input[type=file]')]);
    if (inputs.length) return inputs.length === 1 ? inputs[0] : null;
  }
  return null;
}

/** What may open a picker that has no input, which only some browsers have. */
const PICKER_ROLES = new Set(['button', 'link', 'menuitem']);

const mayOpenPicker = (element) => 'showOpenFilePicker' in window && PICKER_ROLES.has(roleOf(element));

/** `request.files` is their number; with `request.pickers` an element that may open a picker is `picker`. Files from before are removed, since a driver would add to them. */
function refuseFiles(element, request) {
  const input = fileInputOf(element);
  if (!input && request.pickers && mayOpenPicker(element)) {
    request.found.kind = 'picker';
    return refuseDisabled(element);
  }
  if (!input) return no('no_file_input', `${lineFor(element)} is not a file input and leads to none, or to several`);
  const refused = refuseDisabled(input);
  if (refused) return refused;
  if (request.files > 1 && !input.multiple) return no('bad_value', `${lineFor(input)} takes one file only`);
  request.found.kind = 'file';
  dom.setValue(input, '');
  return null;
}

const namesIn = (input) => Array.from(input.files ?? [], (file) => file.name);

/** uploaded(): the names of the files that the input acted on holds; null if it is gone, perhaps with its document. */
const uploaded = () => {
  const { element } = acting;
  return { held: element && isLive(element) ? namesIn(element) : null, ...describePage() };
};
