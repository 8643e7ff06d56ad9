// Keeps the requests that a window has in flight, as the hooks in the page's own world report them. The page can report
// others: that makes us wait longer, or not long enough for its own requests, and nothing else.
const MOST_REQUESTS = 1000;
const listen = uncurry(EventTarget.prototype.addEventListener);
const unlisten = uncurry(EventTarget.prototype.removeEventListener);
const dispatch = uncurry(EventTarget.prototype.dispatchEvent);

/** The elements to which the page gave a click handler. */
const clickable = new WeakSet();

class Requests {
  constructor(view) {
    this.last = 0;
    this.open = new Map();
    listen(view, CHANNEL, ({ detail }) => this.note(`${detail}`));
    listen(view, `${CHANNEL}:clickable`, ({ relatedTarget }) => void clickable.add(relatedTarget));
    listen(view, `${CHANNEL}:unclickable`, ({ relatedTarget }) => void clickable.delete(relatedTarget));
  }

  note(report) {
    const [, what, key, url] = /^(begin|end) (\d{1,9})(?: ([^]*))?$/.exec(report) ?? [];
    if (what === 'end') this.open.delete(key);
    else if (what && this.open.size < MOST_REQUESTS) {
      this.last += 1;
      this.open.set(key, { number: this.last, url: url.slice(0, MOST_REQUESTS) });
    }
  }

  /** The address of a request begun after number `since` and not yet answered, or null. */
  pending(since) {
    for (const { number, url } of this.open.values()) if (number > since) return url;
    return null;
  }
}

/** The engine of the window that shows an element, if it is another one's. */
function engineAround(element) {
  const view = dom.window(dom.document(element));
  return view && view !== window ? engineOf(view) : undefined;
}

/** True for an element with such a handler, also in a child with an engine of its own. */
const hasClickHandler = (element) =>
  clickable.has(element) || engineAround(element)?.clickable.has(element) === true;

const ownRequests = new Requests(window);
const adopted = new WeakMap();

/** The requests of a window of the cluster; a child has an engine of its own, or its parent's counts for it. */
function requestsOf(view) {
  if (view === window) return ownRequests;
  const inner = engineOf(view);
  if (inner) return inner.requests;
  const doc = view.document;
  if (!adopted.has(doc)) {
    adopted.set(doc, new Requests(view));
    hearPresses(view);
    dispatch(window, new FocusEvent(`${CHANNEL}:adopt`, { relatedTarget: view }));
  }
  return adopted.get(doc);
}

/** A request's address as a message shows it: without the page's own origin, query and fragment. */
function shortAddress(url, doc) {
  try {
    const base = new URL(dom.base(doc));
    const address = new URL(url, base);
    return shown(address.origin === base.origin ? address.pathname : `${address.host}${address.pathname}`);
  } catch {
    return quoted(url);
  }
}
