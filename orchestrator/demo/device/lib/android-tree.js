'use strict';

/** What a page holds as UiAutomator2 tells it: pixels, and only what is on the screen. */

const CLASSES = {
  alert: 'android.widget.FrameLayout', button: 'android.widget.Button', cell: 'android.view.ViewGroup', checkbox: 'android.widget.CheckBox',
  date: 'android.widget.EditText', dialog: 'android.view.ViewGroup', group: 'android.view.ViewGroup', heading: 'android.widget.TextView',
  image: 'android.widget.ImageView', link: 'android.widget.TextView', list: 'android.widget.ListView', nav: 'android.widget.Toolbar',
  password: 'android.widget.EditText', picker: 'android.widget.Spinner', progress: 'android.widget.ProgressBar',
  radio: 'android.widget.RadioButton', search: 'android.widget.EditText', slider: 'android.widget.SeekBar', switch: 'android.widget.Switch',
  tab: 'android.widget.Button', tabbar: 'android.widget.TabWidget', text: 'android.widget.TextView', textarea: 'android.widget.EditText',
  textfield: 'android.widget.EditText', webview: 'android.webkit.WebView',
};
/** Inside a web view Chromium's own words are told. */
const WEB_CLASSES = {
  ...CLASSES, alert: 'android.app.AlertDialog', cell: 'android.view.View', dialog: 'android.app.Dialog', group: 'android.view.View',
  image: 'android.widget.Image', link: 'android.view.View', nav: 'android.view.View', tabbar: 'android.view.View',
};
const CHECKABLE = new Set(['checkbox', 'radio', 'switch']);
const EDITABLE = new Set(['date', 'password', 'search', 'textarea', 'textfield']);
const TEXTS = new Set(['button', 'heading', 'key', 'link', 'tab', 'text']);

/** Convert what `sim.tree` answered. `context` has `scale`, `pkg`, `at`, `page`, and `inWeb` inside of web views. */
function converted(nodes, context) {
  const kept = nodes.filter(({visible, kind}) => visible && kind !== 'keyboard');
  return kept.map((node, index) => one(node, index, context));
}

function one(node, index, context) {
  const web = node.kind === 'webview' ? context.webviews?.find(({id}) => id === node.id) : undefined;
  const type = node.scrollable && node.kind === 'list' && !context.inWeb ? 'androidx.recyclerview.widget.RecyclerView'
    : node.scrollable && node.kind === 'group' ? 'android.widget.ScrollView'
      : (context.inWeb ? WEB_CLASSES : CLASSES)[node.kind] ?? 'android.view.ViewGroup';
  const children = web ? converted(web.tree, {...context, page: web.page, at: web.page.rect, webviews: [], inWeb: true})
    : converted(node.children, context);
  return {
    type, attributes: attributesOf(node, index, type, context), children,
    target: {page: context.page, at: context.at, id: node.id, kind: node.kind, seen: node.seen},
  };
}

function textOf(node) {
  if (node.kind === 'password' && node.value) return '•'.repeat(node.value.length);
  if (EDITABLE.has(node.kind)) return node.value || node.placeholder;
  if (node.kind === 'slider') return Number(node.value).toFixed(1);
  if (node.kind === 'picker') return node.value;
  if (CHECKABLE.has(node.kind)) return node.aria ? '' : (node.label ?? '');
  return TEXTS.has(node.kind) ? node.text : '';
}

function attributesOf(node, index, type, {scale, pkg, at, inWeb}) {
  const edge = (value) => Math.round(value * scale);
  const {x, y, width, height} = node.seen;
  const [left, top] = [edge(x + at.x), edge(y + at.y)];
  const [right, bottom] = [edge(x + at.x + width), edge(y + at.y + height)];
  const editable = EDITABLE.has(node.kind);
  const resource = node.resource || (node.htmlId ? (inWeb ? node.htmlId : `${pkg}:id/${node.htmlId}`) : undefined);
  return {
    index, package: pkg, class: type, text: textOf(node), 'content-desc': node.aria || node.testid || (node.kind === 'image' && node.label) || undefined, 'resource-id': resource,
    checkable: CHECKABLE.has(node.kind), checked: Boolean(node.checked), clickable: Boolean(node.clickable),
    enabled: !node.disabled, focusable: editable || Boolean(node.clickable), focused: Boolean(node.focused),
    'long-clickable': editable, password: node.kind === 'password', scrollable: Boolean(node.scrollable), selected: Boolean(node.selected),
    bounds: `[${left},${top}][${right},${bottom}]`, displayed: true,
    hint: node.placeholder || undefined, 'showing-hint': editable && !node.value && node.placeholder ? true : undefined,
  };
}

/** The whole source of a screen of `size` points. */
function source(nodes, context, size, rotation) {
  const [width, height] = [Math.round(size.width * context.scale), Math.round(size.height * context.scale)];
  const frame = (type, children, id) => ({
    type, children, target: undefined,
    attributes: {
      index: 0, package: context.pkg, class: type, text: '', 'resource-id': id, checkable: false, checked: false, clickable: false,
      enabled: true, focusable: false, focused: false, 'long-clickable': false, password: false, scrollable: false, selected: false,
      bounds: `[0,0][${width},${height}]`, displayed: true,
    },
  });
  const content = frame('android.widget.FrameLayout', converted(nodes, context), 'android:id/content');
  const root = frame('android.widget.FrameLayout', [frame('android.widget.LinearLayout', [content])]);
  return {
    type: 'hierarchy', attributes: {index: 0, class: 'hierarchy', rotation, width, height}, children: [root], target: undefined,
  };
}

module.exports = {source};
