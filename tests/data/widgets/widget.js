// Shows the widget that the page's query names; `state()` returns what the application itself holds of it.
export function show(widgets) {
  const name = location.search.slice(1);
  const root = document.createElement('main');
  document.body.append(root);
  window.state = () => null;
  window.log = [];
  widgets[name](root);
}

/** A widget of markup, with `state` as the application's own value. */
export const markup = (html, state, setUp = () => {}) => (root) => {
  root.innerHTML = html;
  window.state = () => state(root);
  setUp(root);
};
