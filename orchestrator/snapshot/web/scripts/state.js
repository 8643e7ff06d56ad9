// Reads the states and the value of a control, and keeps secrets masked.
const MASK = '•••';
const secrets = new WeakSet();

/** True for an element that holds a password, or ever held one. */
function isSecret(element) {
  if (secrets.has(element)) return true;
  if (dom.tag(element) !== 'input' || !inHtml(element)) return false;
  if (element.type !== 'password' && !/(current|new)-password/i.test(attribute(element, 'autocomplete') ?? '')) return false;
  secrets.add(element);
  return true;
}

// "Show password" turns the type into text between two calls: only the change itself reveals it.
const unmasking = new MutationObserver(noteSecrets);
unmasking.observe(window.document, {
  subtree: true, attributes: true, attributeFilter: ['type'], attributeOldValue: true,
});

function noteSecrets(records) {
  for (const record of records) if (/^password$/i.test(record.oldValue ?? '')) secrets.add(record.target);
}

const CONTROLS = wordSet('input select textarea button option optgroup fieldset');

function isDisabled(element, tag = dom.tag(element)) {
  if (CONTROLS.has(tag) && dom.matches(element, ':disabled')) return true;
  return mayBeDisabled(dom.root(element)) && dom.closest(element, DISABLED) !== null;
}

const DISABLED = '[aria-disabled="true"]';

/** True if ARIA disables anything in a tree: looked for once for all of its elements. */
const mayBeDisabled = onceATurn((root) => hasMatch(root, DISABLED));

const isReadonly = (element) =>
  ((dom.tag(element) === 'input' || dom.tag(element) === 'textarea') && element.readOnly && !isToggle(element)) ||
  flag(element, 'aria-readonly');

const isToggle = (element) => dom.tag(element) === 'input' && /^(checkbox|radio)$/.test(element.type);

/** The visible element that stands for another one: for a hidden checkbox or radio its first visible label or its box. */
const seenOf = (element) =>
  (isToggle(element) && !isVisible(element) ? labelsOf(element).find(isVisible) ?? boxOfToggle(element) : null) ?? element;

/** The hidden checkbox or radio that this label stands for; null if there is none. */
function toggleBehind(label) {
  const { control } = label;
  return control && isToggle(control) && seenOf(control) === label ? control : null;
}

/** True for a toggle without a size that something else than a label stands for. */
const hasOwnBox = (element) => isToggle(element) && !/^(label|input)$/.test(dom.tag(seenOf(element)));

/** The nearest visible element around a toggle without a size, in which it is the only control: it is drawn there. */
function boxOfToggle(toggle) {
  if (!dom.rendered(toggle)) return null;
  for (let at = outer(toggle), up = 0; at && up < 2 && !isPage(dom.tag(at)); at = outer(at), up += 1) {
    if (isVisible(at)) return queryAll(at, STRUCTURE).length === 1 ? at : null;
  }
  return null;
}

/** true, false or 'mixed' for a toggle; null for every other element. */
function checkedOf(element) {
  if (isToggle(element)) return element.indeterminate ? 'mixed' : element.checked;
  const aria = attribute(element, 'aria-checked') ?? attribute(element, 'aria-pressed');
  return aria === null ? null : aria === 'mixed' ? 'mixed' : aria === 'true';
}

function expandedOf(element) {
  if (dom.tag(element) === 'summary') return dom.has(dom.parent(element) ?? element, 'open') ? 'expanded' : 'collapsed';
  const aria = attribute(element, 'aria-expanded');
  return aria === 'true' ? 'expanded' : aria === 'false' ? 'collapsed' : null;
}

function levelOf(element) {
  const level = Number(attribute(element, 'aria-level')) || Number(/^h([1-6])$/.exec(dom.tag(element))?.[1] ?? 2);
  return `level=${level}`;
}

function toggleState(element, role) {
  const checked = checkedOf(element);
  if (!checked) return null;
  if (checked === 'mixed') return 'mixed';
  return role === 'button' ? 'pressed' : 'checked';
}

const isSelected = (element) => (dom.tag(element) === 'option' ? element.selected : flag(element, 'aria-selected'));

const isInvalid = (element) => {
  const aria = attribute(element, 'aria-invalid');
  return aria !== null ? aria !== 'false' && aria !== '' : CONTROLS.has(dom.tag(element)) && dom.matches(element, ':user-invalid');
};

/** True for a select that shows only what is chosen. */
const isClosed = (select) => !select.multiple && select.size <= 1;

const isModal = (element, role) =>
  flag(element, 'aria-modal') || (role === 'dialog' && dom.tag(element) === 'dialog' && dom.matches(element, ':modal'));

/** True if it has any ARIA attribute: one check instead of one for each attribute of an outline. */
function hasAria(element) {
  if (!dom.hasAny(element)) return false;
  for (const name of dom.attributes(element)) if (name.startsWith('aria-')) return true;
  return false;
}

/** The states of a line, in the order in which it shows them. */
function statesOf(element, role, focused) {
  const tag = dom.tag(element);
  const aria = hasAria(element);
  const states = [];
  const isRich = aria || CONTROLS.has(tag);
  if (isRich) {
    const toggled = toggleState(element, role);
    if (toggled) states.push(toggled);
    if (isSelected(element)) states.push('selected');
  }
  const expanded = aria || tag === 'summary' ? expandedOf(element) : null;
  if (expanded) states.push(expanded);
  if (tag === 'select' && inHtml(element) && isClosed(element)) {
    states.push(`${element.options.length} option${element.options.length === 1 ? '' : 's'}`);
  }
  if (isDisabled(element, tag)) states.push('disabled');
  if (isRich) {
    if (isReadonly(element)) states.push('readonly');
    if (dom.matches(element, ':required') || flag(element, 'aria-required')) states.push('required');
    if (isInvalid(element)) states.push('invalid');
  }
  if (focused.has(element)) states.push('focused');
  if (aria && flag(element, 'aria-busy')) states.push('busy');
  if (role === 'heading') states.push(levelOf(element));
  if (role === 'clickable') states.push('clickable');
  if ((aria || role === 'dialog') && isModal(element, role)) states.push('modal');
  return states;
}

const VALUED_INPUT = /^(?!button|submit|reset|image|checkbox|radio|hidden|file)/;

/** The unmasked value of a control, only for comparing; null for an element without a value. */
function rawValue(element) {
  switch (dom.tag(element)) {
    case 'input':
      if (element.type === 'file') return Array.from(element.files ?? [], (file) => file.name).join(', ');
      return VALUED_INPUT.test(element.type) ? element.value : null;
    case 'textarea': return element.value;
    case 'select': return Array.from(element.selectedOptions, (option) => optionLabel(option)).join(', ');
    case 'progress': return element.position < 0 ? null : `${element.value}`;
    case 'meter': return `${element.value}`;
    default:
      if (!dom.hasAny(element)) return null;
      if (isEditingHost(element)) return textOf(element);
      return attribute(element, 'aria-valuetext') ?? attribute(element, 'aria-valuenow');
  }
}

const optionLabel = (option) => normal(attribute(option, 'label') || dom.textContent(option));

/** The value as it may be shown, or ''. */
function valueOf(element) {
  if (dom.tag(element) === 'select') return Array.from(element.selectedOptions, toldChoice).join(', ');
  const value = rawValue(element) ?? '';
  return value && isSecret(element) ? MASK : value;
}
