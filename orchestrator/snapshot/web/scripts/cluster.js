// The cluster that one engine serves: a document, with the same-origin frames and open shadow roots below it.
/** The engines of other sandboxes, by their documents. */
const enginesElsewhere = new WeakMap();

/** The engine of a window of the cluster; undefined if it has none. */
function engineOf(view) {
  if (view === window) return engine;
  if (!isSandbox) return view[KEY];
  const doc = view.document;
  const known = enginesElsewhere.get(doc);
  if (known) return known;
  const asked = {};
  dispatch(view, new CustomEvent(KEY, { detail: asked }));
  const found = asked.engine?.wrappedJSObject;
  if (found) enginesElsewhere.set(doc, found);
  return found;
}

/** The window whose engine answers for this one: the topmost of its same-origin parents. */
function headWindow() {
  let head = window;
  try {
    while (head.parent !== head && engineOf(head.parent)) head = head.parent;
  } catch {
    // A cross-origin parent refuses to be read: the cluster ends here.
  }
  return head;
}

const isFrame = (element) => {
  const tag = dom.tag(element);
  return (tag === 'iframe' || tag === 'frame') && inHtml(element);
};

/** The document inside a frame, or null if it is of another origin. */
function innerDocument(frame) {
  try {
    return dom.tag(frame) === 'iframe' ? dom.frameDocument(frame) : frame.contentDocument;
  } catch {
    return null;
  }
}

const innerWindow = (frame) => (dom.tag(frame) === 'iframe' ? dom.frameWindow(frame) : frame.contentWindow);

/** The frame element that holds `doc`, or null at the root of the cluster. */
function frameOf(doc) {
  const view = dom.window(doc);
  if (!view || view === window) return null;
  try {
    return view.frameElement;
  } catch {
    return null;
  }
}

/** A file input outside every document for which the page has opened a file chooser. */
let loose = null;

/** True while `node` is part of a document that the cluster shows. */
function isLive(node) {
  if (node === loose) return true;
  let doc = dom.type(node) === DOCUMENT ? node : dom.document(node);
  if (doc !== node && !dom.connected(node)) return false;
  while (doc !== window.document) {
    const frame = doc && frameOf(doc);
    if (!frame || !dom.connected(frame) || innerDocument(frame) !== doc) return false;
    doc = dom.document(frame);
  }
  return true;
}

/** The path from the cluster's root to `frame`: indexes into window.frames, or the ref of a frame in a shadow tree. */
function pathTo(frame) {
  const path = [];
  for (let at = frame; at; at = frameOf(dom.document(at))) {
    const inner = innerWindow(at);
    const outer = dom.window(dom.document(at));
    let index = 0;
    while (outer[index] && outer[index] !== inner) index += 1;
    path.unshift(outer[index] ? index : refOf(at));
  }
  return path;
}

/** The frame at the end of such a path, or null. */
function frameAt(path) {
  let frame = null;
  for (const step of path) {
    const doc = frame ? innerDocument(frame) : window.document;
    if (!doc) return null;
    const inner = dom.window(doc)[step];
    frame = typeof step === 'string' ? elementOf(step)
      : everywhere(doc, 'iframe,frame').find((each) => inner && innerWindow(each) === inner);
    if (!frame) return null;
  }
  return frame;
}

/** The path to the frame that contains `element`. */
const homePath = (element) => {
  const frame = frameOf(dom.document(element));
  return frame ? pathTo(frame) : [];
};

/** `start` and every shadow root and same-origin document below it: shadow roots in tree order, then frames. */
function rootsBelow(start) {
  const roots = [];
  const pending = [start];
  for (let i = 0; i < pending.length; i += 1) {
    const frames = [];
    const enter = (root) => {
      roots.push(root);
      const hosts = [];
      const note = (element) => {
        const shadow = dom.shadow(element);
        if (shadow) hosts.push(shadow);
        if (isFrame(element)) frames.push(element);
      };
      if (dom.type(root) === ELEMENT) note(root);
      for (const element of queryAll(root, '*')) note(element);
      for (const shadow of hosts) enter(shadow);
    };
    enter(pending[i]);
    for (const frame of frames) {
      const inner = innerDocument(frame);
      if (inner) pending.push(inner);
    }
  }
  return roots;
}

const allRoots = () => rootsBelow(window.document);
const allDocuments = () => allRoots().filter((root) => dom.type(root) === DOCUMENT);

/** The parent in the flattened tree, as it is rendered: slots and hosts included, frames not. */
function outer(node) {
  if (dom.type(node) === ELEMENT) {
    const slot = dom.slotOf(node);
    if (slot) return slot;
  }
  const parent = dom.parent(node);
  if (!parent) return null;
  if (dom.type(parent) === ELEMENT) return parent;
  return dom.type(parent) === FRAGMENT ? parent.host ?? null : null;
}

/** The children in the flattened tree, or the first of them: the shadow tree's, the slotted ones, or its own. */
function innerNodes(element, most = Infinity) {
  const shadow = dom.shadow(element);
  if (!shadow && dom.tag(element) === 'slot' && inHtml(element)) {
    const slotted = dom.slotted(element);
    if (slotted.length) return slotted;
  }
  const nodes = [];
  for (let node = dom.first(shadow ?? element); node && nodes.length < most; node = dom.next(node)) nodes.push(node);
  return nodes;
}

/** Every focused element, from the root document down through shadow roots and frames. */
function focusedElements() {
  const focused = new Set();
  let root = window.document;
  while (root) {
    const element = activeIn[dom.type(root)](root);
    if (!element) break;
    focused.add(element);
    root = dom.shadow(element) ?? (isFrame(element) ? innerDocument(element) : null);
  }
  focused.delete(dom.body(window.document));
  return focused;
}
