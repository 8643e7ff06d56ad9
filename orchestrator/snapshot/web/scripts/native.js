// Takes the platform's own getters before a page can shadow them: a form field named "children" hides form.children.
const {
  Array, Date, Error, Event, FinalizationRegistry, FocusEvent, JSON, Map, Math, MutationObserver, Number, Object, Promise,
  RegExp, Set, String, URL, WeakMap, WeakRef, WeakSet,
} = globalThis;
const { defineProperty, getOwnPropertyDescriptor } = Reflect;
const { keys: keysOf } = Object;
const { isArray } = Array;
const { isFinite } = Number;
const parseJson = JSON.parse;
const styleOf = window.getComputedStyle.bind(window);
const now = performance.now.bind(performance);
const startTimeout = window.setTimeout.bind(window);
const endTimeout = window.clearTimeout.bind(window);
const soon = window.queueMicrotask.bind(window);
const nextFrame = window.requestAnimationFrame.bind(window);

/** Makes `find` remember what it returns, never undefined, for each object until the page's own code goes on. */
function onceATurn(find) {
  let known = null;
  return (object) => {
    if (!known) {
      known = new Map();
      soon(() => { known = null; });
    }
    const current = known; // WebKit ends the turn where `find` dispatches an event
    let found = current.get(object);
    if (found === undefined) {
      found = find(object);
      current.set(object, found);
    }
    return found;
  };
}

let timersFire = false;
startTimeout(() => { timersFire = true; }, 0);

/**
 * Calls `done` after so many ms. In a document without scripting (CSP `sandbox`, `<iframe sandbox>`) no timeout ever
 * fires; frames are drawn there all the same.
 */
function setTimer(done, ms, ...given) {
  const until = now() + ms;
  const timer = { over: false, timeout: null };
  const end = () => {
    if (timer.over) return;
    timer.over = true;
    done(...given);
  };
  const look = () => {
    if (timer.over || timersFire) return;
    if (now() >= until) end();
    else nextFrame(look);
  };
  timer.timeout = startTimeout(end, ms);
  if (!timersFire) nextFrame(look);
  return timer;
}

function clearTimer(timer) {
  timer.over = true;
  endTimeout(timer.timeout);
}

/** True in a sandbox of Firefox: each window has its own, and none sees what another has put into its window. */
const isSandbox = globalThis !== window;
const uncurry = Function.prototype.bind.bind(Function.prototype.call);
/**
 * As `uncurry`, for one argument at most. Firefox is slow at a bound `call`, and quick at one in a function; but only in
 * a sandbox is `call` sure to be the platform's own.
 */
const unbound = isSandbox ? (platform) => (self, given) => platform.call(self, given) : uncurry;
const reader = (type, name) => unbound(getOwnPropertyDescriptor(type.prototype, name).get);
const writer = (type, name) => uncurry(getOwnPropertyDescriptor(type.prototype, name).set);
const method = (type, name) => uncurry(type.prototype[name]);
/** A method with one parameter at most. */
const unary = (type, name) => unbound(type.prototype[name]);

const joined = method(Array, 'join');

const ELEMENT = 1;
const TEXT = 3;
const DOCUMENT = 9;
const FRAGMENT = 11;

/** Characters of a text of the page that are read: what a page of megabytes says beyond them, nobody waits for. */
const MOST_TEXT = 1_000_000;
const beginningOf = (text) => (text.length > MOST_TEXT ? text.slice(0, MOST_TEXT) : text);
const dataOf = reader(CharacterData, 'data');

const dom = {
  type: reader(Node, 'nodeType'),
  parent: reader(Node, 'parentNode'),
  first: reader(Node, 'firstChild'),
  next: reader(Node, 'nextSibling'),
  previous: reader(Node, 'previousSibling'),
  document: reader(Node, 'ownerDocument'),
  connected: reader(Node, 'isConnected'),
  base: reader(Node, 'baseURI'),
  root: unary(Node, 'getRootNode'),
  textContent: reader(Node, 'textContent'),
  data: (node) => beginningOf(dataOf(node)),

  tag: reader(Element, 'localName'),
  id: reader(Element, 'id'),
  classes: reader(Element, 'classList'),
  attribute: unary(Element, 'getAttribute'),
  has: unary(Element, 'hasAttribute'),
  hasAny: unary(Element, 'hasAttributes'),
  attributes: unary(Element, 'getAttributeNames'),
  firstElement: reader(Element, 'firstElementChild'),
  matches: unary(Element, 'matches'),
  closest: unary(Element, 'closest'),
  shadow: reader(Element, 'shadowRoot'),
  slotOf: reader(Element, 'assignedSlot'),
  box: unary(Element, 'getBoundingClientRect'),
  outerHtml: reader(Element, 'outerHTML'),
  setAttribute: method(Element, 'setAttribute'),
  boxes: unary(Element, 'getClientRects'),
  scrollBy: method(Element, 'scrollBy'),
  reveal: method(Element, 'scrollIntoView'),
  rendered: unary(Element, 'checkVisibility'),
  clientLeft: reader(Element, 'clientLeft'),
  clientTop: reader(Element, 'clientTop'),
  clientWidth: reader(Element, 'clientWidth'),
  clientHeight: reader(Element, 'clientHeight'),
  scrollLeft: reader(Element, 'scrollLeft'),
  scrollTop: reader(Element, 'scrollTop'),
  scrollWidth: reader(Element, 'scrollWidth'),
  scrollHeight: reader(Element, 'scrollHeight'),

  layoutWidth: reader(HTMLElement, 'offsetWidth'),
  layoutHeight: reader(HTMLElement, 'offsetHeight'),
  focus: (element) => focusOf(element)?.(element),
  blur: method(HTMLElement, 'blur'),
  setValue: writer(HTMLInputElement, 'value'),
  clone: method(Node, 'cloneNode'),
  tabIndex: reader(HTMLElement, 'tabIndex'),
  editable: reader(HTMLElement, 'isContentEditable'),
  slotted: method(HTMLSlotElement, 'assignedNodes'),
  frameWindow: reader(HTMLIFrameElement, 'contentWindow'),
  frameDocument: reader(HTMLIFrameElement, 'contentDocument'),

  html: reader(Document, 'documentElement'),
  body: reader(Document, 'body'),
  window: reader(Document, 'defaultView'),
  title: reader(Document, 'title'),
  url: reader(Document, 'URL'),
  referrer: reader(Document, 'referrer'),
  readyState: reader(Document, 'readyState'),
  command: method(Document, 'execCommand'),
  scroller: reader(Document, 'scrollingElement'),
  evaluate: method(Document, 'evaluate'),
  range: method(Document, 'createRange'),
  importNode: method(Document, 'importNode'),
  timeline: reader(Document, 'timeline'),
};

const namespaceOf = reader(Element, 'namespaceURI');
const HTML_SPACE = 'http://www.w3.org/1999/xhtml';
const SVG_SPACE = 'http://www.w3.org/2000/svg';

const queries = {
  [ELEMENT]: unary(Element, 'querySelectorAll'),
  [DOCUMENT]: unary(Document, 'querySelectorAll'),
  [FRAGMENT]: unary(DocumentFragment, 'querySelectorAll'),
};

const firstQueries = {
  [ELEMENT]: unary(Element, 'querySelector'),
  [DOCUMENT]: unary(Document, 'querySelector'),
  [FRAGMENT]: unary(DocumentFragment, 'querySelector'),
};

/** True when an element below `root` matches `css`. */
const hasMatch = (root, css) => firstQueries[dom.type(root)](root, css) !== null;

/** Every element below `root` that matches `css`, in tree order. */
const queryAll = (root, css) => queries[dom.type(root)](root, css);

const byId = { [DOCUMENT]: method(Document, 'getElementById'), [FRAGMENT]: method(DocumentFragment, 'getElementById') };

const focusIn = { [HTML_SPACE]: method(HTMLElement, 'focus'), [SVG_SPACE]: method(SVGElement, 'focus') };
const focusOf = (element) => focusIn[namespaceOf(element)];

/** The element with `id` in the tree of `node`. */
const sibling = (node, id) => byId[dom.type(dom.root(node))]?.(dom.root(node), id) ?? null;

const activeIn = { [DOCUMENT]: reader(Document, 'activeElement'), [FRAGMENT]: reader(ShadowRoot, 'activeElement') };
const hitIn = { [DOCUMENT]: method(Document, 'elementFromPoint'), [FRAGMENT]: method(ShadowRoot, 'elementFromPoint') };

/** True for elements of HTML, whose getters the others lack. */
const inHtml = (element) => namespaceOf(element) === HTML_SPACE;

const attribute = dom.attribute;
/** True in Firefox, for what only its own controls and editors do. */
const inFirefox = 'mozInnerScreenX' in window;

const flag = (element, name) => attribute(element, name) === 'true';
