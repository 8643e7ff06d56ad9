'use strict';

/** What a page holds as XCUITest tells it: points, and off the screen, too, with visible="false". */

const TYPES = {
  alert: 'Alert', button: 'Button', cell: 'Cell', checkbox: 'Switch', date: 'DatePicker', dialog: 'Other', group: 'Other',
  heading: 'StaticText', image: 'Image', key: 'Key', keyboard: 'Keyboard', link: 'Link', list: 'Table', nav: 'NavigationBar',
  password: 'SecureTextField', picker: 'PickerWheel', progress: 'ProgressIndicator', radio: 'Button', search: 'SearchField',
  slider: 'Slider', switch: 'Switch', tab: 'Button', tabbar: 'TabBar', text: 'StaticText', textarea: 'TextView',
  textfield: 'TextField', webview: 'WebView',
};
/** What VoiceOver would say of a kind beside its name. */
const TRAITS = {
  button: ['Button'], heading: ['Header', 'StaticText'], image: ['Image'], key: ['KeyboardKey'], link: ['Link'], radio: ['Button'],
  search: ['SearchField'], slider: ['Adjustable'], switch: ['Button', 'ToggleButton'], checkbox: ['Button', 'ToggleButton'],
  tab: ['Button'], tabbar: ['TabBar'], text: ['StaticText'],
};
const EDITABLE = new Set(['date', 'password', 'search', 'textarea', 'textfield']);
const CONTAINERS = new Set(['alert', 'dialog', 'group', 'keyboard', 'list', 'nav', 'tabbar', 'webview']);

/** Convert what `sim.tree` answered. `context` has `at`, `page`, `webviews` and `cover`, the height of the keyboard's edge. */
function converted(nodes, context) {
  return nodes.map((node, index) => one(node, index, context));
}

function one(node, index, context) {
  const web = node.kind === 'webview' ? context.webviews?.find(({id}) => id === node.id) : undefined;
  const children = web ? converted(web.tree, {...context, page: web.page, at: web.page.rect, webviews: []}) : converted(node.children, context);
  const busy = node.kind === 'progress' && node.value === '';
  const type = `XCUIElementType${node.scrollable && node.kind === 'group' ? 'ScrollView' : busy ? 'ActivityIndicator' : TYPES[node.kind]}`;
  return {
    type, attributes: attributesOf(node, index, type, context), children,
    target: {page: context.page, at: context.at, id: node.id, kind: node.kind},
  };
}

function valueOf(node) {
  if (node.kind === 'password' && node.value) return '•'.repeat(node.value.length);
  if (EDITABLE.has(node.kind)) return node.value || node.placeholder || undefined;
  if (node.kind === 'checkbox' || node.kind === 'switch') return node.checked ? '1' : '0';
  if (node.kind === 'radio' || node.kind === 'button' || node.kind === 'tab') return isSelected(node) ? '1' : undefined;
  if (node.kind === 'slider') return `${Math.round(100 * (node.value - node.min) / (node.max - node.min || 1))}%`;
  if (node.kind === 'progress') return node.value === '' ? '1' : `${Math.round(100 * node.value / (node.max || 1))}%`;
  if (node.kind === 'text' || node.kind === 'heading') return node.text;
  return node.kind === 'picker' ? node.value : undefined;
}

const isSelected = (node) => node.selected || (node.kind === 'radio' && node.checked);

function attributesOf(node, index, type, {at}) {
  const {x, y, width, height} = node.rect;
  const label = node.label || node.text || '';
  const name = node.testid || node.aria || node.htmlId || label;
  const told = EDITABLE.has(node.kind);
  const traits = [...TRAITS[node.kind] ?? [], ...(isSelected(node) ? ['Selected'] : []), ...(node.disabled ? ['NotEnabled'] : [])];
  const attributes = {
    type, value: valueOf(node), name: name || undefined, label: label || (told ? '' : undefined), enabled: !node.disabled,
    visible: node.visible, accessible: !CONTAINERS.has(node.kind), x: Math.round(x + at.x), y: Math.round(y + at.y),
    width: Math.round(width), height: Math.round(height), index, placeholderValue: told ? node.placeholder : undefined,
    traits: traits.join(', '),
  };
  // It can be asked for, and predicates know it; the source has the trait alone.
  return Object.defineProperty(attributes, 'selected', {value: Boolean(isSelected(node)), enumerable: false});
}

/** The whole source of a screen of `size` points showing the app of that name. */
function source(nodes, context, size, appName) {
  const box = {enabled: true, visible: true, accessible: false, x: 0, y: 0, ...size};
  const other = (type, children, more = {}) => ({
    type: `XCUIElementType${type}`, children, target: undefined,
    attributes: {type: `XCUIElementType${type}`, ...more, ...box, index: 0},
  });
  const app = other('Application', [other('Window', [other('Other', converted(nodes, context))])], {name: appName, label: appName});
  return {type: 'AppiumAUT', attributes: {}, children: [app], target: undefined};
}

module.exports = {converted, source};
