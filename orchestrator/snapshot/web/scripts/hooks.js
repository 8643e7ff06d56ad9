// Runs in the page's own world, the only one that hears its calls: reports requests, permissions that are asked for and
// click handlers to the engine, by events. The page could send the same events, so that the engine trusts none of them.

/** Installs the hooks in a window, unless it has them. */
function hookPage(view) {
  const { Array, CustomEvent, Event, EventTarget, FocusEvent, Promise, Proxy, WeakMap } = view;
  const { apply, construct, defineProperty, getOwnPropertyDescriptor } = view.Reflect;
  const uncurry = view.Function.prototype.bind.bind(view.Function.prototype.call);
  const listen = uncurry(EventTarget.prototype.addEventListener);
  const dispatch = uncurry(EventTarget.prototype.dispatchEvent);
  const preventDefault = uncurry(Event.prototype.preventDefault);
  const afterwards = uncurry(Promise.prototype.then);
  const [get, set] = [uncurry(WeakMap.prototype.get), uncurry(WeakMap.prototype.set)];
  const each = uncurry(Array.prototype.forEach);

  if (!dispatch(view, new Event(`${CHANNEL}:hooked`, { cancelable: true }))) return;
  listen(view, `${CHANNEL}:hooked`, (event) => preventDefault(event));

  const report = (detail) => void dispatch(view, new CustomEvent(CHANNEL, { detail }));

  const getter = (owner, name) => owner && uncurry(getOwnPropertyDescriptor(owner, name).get);

  /** Replaces a method, class, or accessor of a property by a proxy, whose toString is still the native one's. */
  function replace(owner, name, traps, kind = 'value') {
    const property = owner && getOwnPropertyDescriptor(owner, name);
    if (typeof property?.[kind] !== 'function' || !property.configurable) return;
    defineProperty(owner, name, { ...property, [kind]: new Proxy(property[kind], traps) });
  }
  const wrap = (owner, name, call, kind) => replace(owner, name, { apply: call }, kind);

  let last = 0;
  const begin = (url) => {
    last += 1;
    report(`begin ${last} ${url}`);
    return last;
  };
  const end = (number) => report(`end ${number}`);

  wrap(view, 'fetch', (target, self, args) => {
    const number = begin(args[0]?.url ?? args[0]);
    const ended = () => end(number);
    try {
      const answer = apply(target, self, args);
      afterwards(answer, (response) => noteAnswer(number, response), ended);
      return answer;
    } catch (error) {
      ended();
      throw error;
    }
  });

  const bodies = new WeakMap();
  /** Ends a request whose body nobody reads so far; an event stream is not waited for at all. */
  function noteAnswer(number, response) {
    const isEvents = /^text\/event-stream/i.test(`${headerOf(headersOf(response), 'content-type')}`);
    if (!isEvents) set(bodies, response, number);
    end(number);
  }
  const { Response } = view;
  const headersOf = getter(Response?.prototype, 'headers');
  const headerOf = Response && uncurry(view.Headers.prototype.get);
  each(['arrayBuffer', 'blob', 'bytes', 'formData', 'json', 'text'], (name) => {
    wrap(Response?.prototype, name, (target, self, args) => {
      const number = get(bodies, self);
      const content = apply(target, self, args);
      if (!number) return content;
      report(`read ${number}`);
      const ended = () => end(number);
      afterwards(content, ended, ended);
      return content;
    });
  });
  wrap(Response?.prototype, 'body', (target, self, args) => {
    const number = get(bodies, self);
    if (number) report(`stream ${number}`);
    return apply(target, self, args);
  }, 'get');
  wrap(Response?.prototype, 'clone', (target, self, args) => {
    const copy = apply(target, self, args);
    const number = get(bodies, self);
    if (number) set(bodies, copy, number);
    return copy;
  });

  const requests = new WeakMap();
  /** Ends the request of an XMLHttpRequest that is in flight. */
  const finish = (xhr) => {
    const request = get(requests, xhr);
    if (request?.number) end(request.number);
    if (request) request.number = 0;
  };
  wrap(view.XMLHttpRequest?.prototype, 'open', (target, self, args) => {
    const answer = apply(target, self, args);
    // A second open() ends the first request without an event.
    finish(self);
    set(requests, self, { url: args[1], number: 0 });
    return answer;
  });
  wrap(view.XMLHttpRequest?.prototype, 'send', (target, self, args) => {
    const request = get(requests, self);
    if (!request) return apply(target, self, args);
    request.number = begin(request.url);
    listen(self, 'loadend', () => finish(self), { once: true });
    try {
      return apply(target, self, args);
    } catch (error) {
      finish(self);
      throw error;
    }
  });

  /** Reports the permissions that calls of a method ask for, without changing the request or its answer. */
  const hear = (owner, name, naming) => wrap(owner, name, (target, self, args) => {
    each(naming(args), (permission) => report(`asks ${permission}`));
    return apply(target, self, args);
  });
  const mediaOf = ([wanted]) => [...(wanted?.audio ? ['microphone'] : []), ...(wanted?.video ? ['camera'] : [])];

  // In an insecure context the browser refuses without asking.
  if (view.isSecureContext) {
    each([
      [view.Geolocation?.prototype, 'getCurrentPosition', 'geolocation'],
      [view.Geolocation?.prototype, 'watchPosition', 'geolocation'],
      [view.PushManager?.prototype, 'subscribe', 'notifications'],
      [view.Clipboard?.prototype, 'read', 'clipboard-read'],
      [view.Clipboard?.prototype, 'readText', 'clipboard-read'],
      [view.StorageManager?.prototype, 'persist', 'persistent-storage'],
      [view.Navigator?.prototype, 'requestMIDIAccess', 'midi'],
      [view.Notification, 'requestPermission', 'notifications'],
      [view.ServiceWorkerRegistration?.prototype, 'showNotification', SHOWN],
      [view.IdleDetector, 'requestPermission', 'idle-detection'],
      [view, 'queryLocalFonts', 'local-fonts'],
      [view, 'getScreenDetails', 'window-management'],
    ], ([owner, name, permission]) => hear(owner, name, () => [permission]));
    hear(view.MediaDevices?.prototype, 'getUserMedia', mediaOf);
    replace(view, 'Notification', {
      construct: (target, args, made) => {
        report(`asks ${SHOWN}`);
        return construct(target, args, made);
      },
    });
  }

  limitConsole(view);
  countTimers(view, replace, report);

  // Scripts of another world see no handlers of the page's.
  wrap(view.HTMLElement.prototype, 'onclick', (target, self, args) => {
    apply(target, self, args);
    const type = `${CHANNEL}:${typeof args[0] === 'function' ? 'clickable' : 'unclickable'}`;
    dispatch(view, new FocusEvent(type, { relatedTarget: self }));
  }, 'set');

  // A frame whose document was written by the page may have none.
  listen(view, `${CHANNEL}:adopt`, ({ relatedTarget }) => hookPage(relatedTarget));
}

/** What a page that shows a notification asks for, with permission or without. */
const SHOWN = 'shown-notification';

/** Lines of the console at once, and per second. */
const LINES_AT_ONCE = 2000;
const LINES_PER_SECOND = 500;
const WRITERS = [
  'log', 'info', 'warn', 'error', 'debug', 'trace', 'dir', 'dirxml', 'table', 'group', 'groupCollapsed', 'count',
];

/**
 * Leaves out lines of a page that writes more than its driver can report: the driver reports every one before it answers
 * the next command, and a million lines would hold it up for minutes. A line of ours says how many were left out. The
 * lines are counted where the page reads the method, which it then calls itself: so their places remain true.
 */
function limitConsole({ Math, Reflect, console, performance, setTimeout }) {
  const { apply, defineProperty, getOwnPropertyDescriptor } = Reflect;
  const { min } = Math;
  const { warn } = console;
  const now = performance.now.bind(performance);
  let [room, since, left] = [LINES_AT_ONCE, now(), 0];

  const tell = () => {
    const lines = `${left} line${left === 1 ? '' : 's'}`;
    left = 0;
    apply(warn, console, [`${lines} left out: the page wrote more than ${LINES_PER_SECOND} lines a second.`]);
  };

  const leaveOut = () => {
    left += 1;
    if (left === 1) setTimeout(tell, 1000);
  };

  const hasRoom = () => {
    const time = now();
    room = min(room + ((time - since) / 1000) * LINES_PER_SECOND, LINES_AT_ONCE);
    since = time;
    if (room >= 1) room -= 1;
    return room >= 1;
  };

  const limit = (name) => {
    const property = getOwnPropertyDescriptor(console, name);
    if (typeof property?.value !== 'function' || !property.configurable) return;
    let { value } = property;
    const { configurable, enumerable } = property;
    defineProperty(console, name, {
      configurable, enumerable, get: () => (hasRoom() ? value : leaveOut), set: (other) => { value = other; },
    });
  };
  for (let i = 0; i < WRITERS.length; i += 1) limit(WRITERS[i]);
}
