// Before the engine: ends where its window has one.
if (window[KEY]) return;
// Firefox gives a window a second sandbox when its first document was the empty one of a frame or popup.
if (globalThis !== window) {
  const asked = {};
  window.dispatchEvent(new CustomEvent(KEY, { detail: asked }));
  const there = asked.engine?.wrappedJSObject;
  if (there) {
    Object.defineProperty(window, KEY, { value: there });
    return;
  }
}
