// Counts the requests that a window has in flight, without changing what the page sees of them.
class Requests {
  constructor(view) {
    this.last = 0;
    this.open = new Map();
    this.watchFetch(view);
    this.watchXhr(view);
  }

  begin(url) {
    this.last += 1;
    this.open.set(this.last, `${url}`);
    return this.last;
  }

  /** The address of a request begun after number `since` and not yet answered, or null. */
  pending(since) {
    for (const [number, url] of this.open) if (number > since) return url;
    return null;
  }

  watchFetch(view) {
    const requests = this;
    wrap(view, 'fetch', (target, self, args) => {
      const number = requests.begin(args[0]?.url ?? args[0]);
      const end = () => void requests.open.delete(number);
      try {
        const answer = apply(target, self, args);
        afterwards(answer, end, end);
        return answer;
      } catch (error) {
        end();
        throw error;
      }
    });
  }

  watchXhr(view) {
    const requests = this;
    const addresses = new WeakMap();
    const numbers = new WeakMap();
    const end = (xhr) => void requests.open.delete(numbers.get(xhr));
    wrap(view.XMLHttpRequest.prototype, 'open', (target, self, args) => {
      const answer = apply(target, self, args);
      // A second open() ends the first request without an event.
      end(self);
      addresses.set(self, args[1]);
      return answer;
    });
    wrap(view.XMLHttpRequest.prototype, 'send', (target, self, args) => {
      if (!addresses.has(self)) return apply(target, self, args);
      numbers.set(self, requests.begin(addresses.get(self)));
      listen(self, 'loadend', () => end(self), { once: true });
      try {
        return apply(target, self, args);
      } catch (error) {
        end(self);
        throw error;
      }
    });
  }
}

const afterwards = uncurry(Promise.prototype.then);
const listen = uncurry(EventTarget.prototype.addEventListener);
const dispatch = uncurry(EventTarget.prototype.dispatchEvent);

/** Replaces a method by a proxy, whose toString is still the native one's. */
function wrap(owner, name, call) {
  const property = getOwnPropertyDescriptor(owner, name);
  if (typeof property?.value !== 'function' || !property.configurable) return;
  defineProperty(owner, name, { ...property, value: new Proxy(property.value, { apply: call }) });
}

const ownRequests = new Requests(window);
const adopted = new WeakMap();

/** The requests of a window of the cluster; a child has an engine of its own, or its parent's counts for it. */
function requestsOf(view) {
  if (view === window) return ownRequests;
  const engine = view[KEY];
  if (engine) return engine.requests;
  const doc = view.document;
  if (!adopted.has(doc)) adopted.set(doc, new Requests(view));
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
