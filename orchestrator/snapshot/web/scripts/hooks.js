// Runs in the page's own world, the only one that hears its calls: reports requests, permissions that are asked for and
// click handlers to the engine, by events. The page could send the same events, so that the engine trusts none of them.

/** Installs the hooks in a window, unless it has them. */
function hookPage(view) {
  const { Array, CustomEvent, Event, EventTarget, FocusEvent, Promise, Proxy, WeakMap } = view;
  const { apply, defineProperty, getOwnPropertyDescriptor } = view.Reflect;
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

  /** Replaces a method, or the setter of a property, by a proxy, whose toString is still the native one's. */
  function wrap(owner, name, call, kind = 'value') {
    const property = owner && getOwnPropertyDescriptor(owner, name);
    if (typeof property?.[kind] !== 'function' || !property.configurable) return;
    defineProperty(owner, name, { ...property, [kind]: new Proxy(property[kind], { apply: call }) });
  }

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
      afterwards(answer, ended, ended);
      return answer;
    } catch (error) {
      ended();
      throw error;
    }
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
      [view.IdleDetector, 'requestPermission', 'idle-detection'],
      [view, 'queryLocalFonts', 'local-fonts'],
      [view, 'getScreenDetails', 'window-management'],
    ], ([owner, name, permission]) => hear(owner, name, () => [permission]));
    hear(view.MediaDevices?.prototype, 'getUserMedia', mediaOf);
  }

  // Scripts of another world see no handlers of the page's.
  wrap(view.HTMLElement.prototype, 'onclick', (target, self, args) => {
    apply(target, self, args);
    const type = `${CHANNEL}:${typeof args[0] === 'function' ? 'clickable' : 'unclickable'}`;
    dispatch(view, new FocusEvent(type, { relatedTarget: self }));
  }, 'set');

  // A frame whose document was written by the page may have none.
  listen(view, `${CHANNEL}:adopt`, ({ relatedTarget }) => hookPage(relatedTarget));
}
