// Keeps the requests that a window has in flight, as the hooks in the page's own world report them. The page can report
// others: that makes us wait longer, or not long enough for its own requests, and nothing else.
const MOST_REQUESTS = 1000;
const listen = uncurry(EventTarget.prototype.addEventListener);
const unlisten = uncurry(EventTarget.prototype.removeEventListener);
const dispatch = uncurry(EventTarget.prototype.dispatchEvent);

/** The elements to which the page gave a click handler. */
const clickable = new WeakSet();

/** Ms after which a body that is read as a stream counts as one: what it writes is noticed, see stream.js. */
const STREAMS_AFTER = 1000;
/** Ms after the end of a request in which the page asks for what it needs next. */
const FOLLOWS = 100;
/** Ms after an act in which a request may be its doing, and requests without any by which an address is one of a poll. */
const ACTED = 1000;
const POLLS = 2;

class Requests {
  constructor(view) {
    this.last = 0;
    this.open = new Map();
    this.answered = new Map();
    this.addresses = new Map();
    /** Requests of the step have a higher number and begin until then; `ended` is when one of them ended last. */
    this.before = 0;
    this.until = Infinity;
    this.ended = -Infinity;
    listen(view, CHANNEL, ({ detail }) => this.note(`${detail}`));
    listen(view, `${CHANNEL}:clickable`, ({ relatedTarget }) => void clickable.add(relatedTarget));
    listen(view, `${CHANNEL}:unclickable`, ({ relatedTarget }) => void clickable.delete(relatedTarget));
    if (view.PerformanceObserver) {
      const observer = new view.PerformanceObserver((list) => this.noteWhole(list.getEntriesByType('resource')));
      observer.observe({ type: 'resource' });
    }
  }

  /** From here on the requests that begin are those of a step. */
  beginStep() {
    this.before = this.last;
    this.until = Infinity;
    return this.last;
  }

  note(report) {
    const [, what, key, url] = /^(begin|end|read|stream) (\d{1,9})(?: ([^]*))?$/.exec(report) ?? [];
    if (what === 'begin') this.begin(key, url.slice(0, MOST_REQUESTS));
    else if (what === 'end') this.end(key);
    else if (what) this.reopen(key, what === 'stream');
  }

  begin(key, url) {
    if (this.open.size >= MOST_REQUESTS) return;
    this.last += 1;
    const began = now();
    const address = url.replace(/[?#].*/s, '');
    const polls = (this.addresses.get(address) ?? 0) + (began - lastDeed() > ACTED ? 1 : 0);
    if (this.addresses.has(address) || this.addresses.size < MOST_REQUESTS) this.addresses.set(address, polls);
    const isOfStep = polls < POLLS && (began <= this.until || began - this.ended < FOLLOWS);
    this.open.set(key, { number: this.last, url, began, isOfStep, streams: Infinity });
  }

  /** Ends a request; of its body nothing is read so far. */
  end(key) {
    const request = this.open.get(key);
    if (!request) return;
    this.open.delete(key);
    if (request.isOfStep && request.number > this.before) this.ended = now();
    this.answered.set(key, request);
    if (this.answered.size > MOST_REQUESTS) this.answered.delete(this.answered.keys().next().value);
  }

  /** Notes that the page reads the body of an answer: the request ends with it. */
  reopen(key, isStream) {
    const request = this.open.get(key) ?? this.answered.get(key);
    if (!request) return;
    if (isStream) request.streams = now() + STREAMS_AFTER;
    this.answered.delete(key);
    this.open.set(key, request);
  }

  /** Ends the requests whose body has come, as the browser's own times of resources say. */
  noteWhole(entries) {
    for (const { name, startTime } of entries) {
      for (const [key, { url, began, streams }] of this.open) {
        if (streams !== Infinity && startTime >= began - 1 && parsedUrl(url, window.location.href)?.href === name) {
          this.end(key);
          break;
        }
      }
    }
  }

  /** The address of a request of the step, begun after number `since` and not yet ended, or null. */
  pending(since) {
    for (const [key, { number, url, isOfStep, streams }] of this.open) {
      if (now() >= streams) this.end(key);
      else if (isOfStep && number > since) return url;
    }
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
  const base = parsedUrl(dom.base(doc));
  const address = parsedUrl(url, base ?? undefined);
  if (!base || !address) return quoted(url);
  return shown(address.origin === base.origin ? address.pathname : `${address.host}${address.pathname}`);
}
