// Gives the page's next file picker (showOpenFilePicker) files of the caller's. They come as a drop of files from outside
// does, so that the handles are the browser's own; a page hears nothing of that drop.

/** Answers the scripts of `picker_files.py`, in a page that has such pickers. */
function servePickers() {
  const { CustomEvent, DataTransferItem, Event, Promise, Proxy } = window;
  const { apply } = Reflect;
  const transferred = DataTransferItem?.prototype;
  if (!transferred?.getAsFileSystemHandle || !window.showOpenFilePicker) return;
  const uncurry = Function.prototype.bind.bind(Function.prototype.call);
  const listen = uncurry(EventTarget.prototype.addEventListener);
  const dispatch = uncurry(EventTarget.prototype.dispatchEvent);
  const take = uncurry(transferred.getAsFileSystemHandle);
  const prevent = uncurry(Event.prototype.preventDefault);
  const stop = uncurry(Event.prototype.stopImmediatePropagation);
  const asked = {};
  dispatch(window, new CustomEvent(`${CHANNEL}:pickers`, { detail: asked }));
  if (asked.expect) return;

  let arrive = null; // while files are about to be dropped
  let handles = []; // those that the next picker gets
  let taken = () => {};

  for (const type of ['dragenter', 'dragover', 'dragleave', 'drop']) {
    listen(window, type, (event) => {
      if (!arrive || !event.isTrusted) return;
      prevent(event);
      stop(event);
      if (type === 'drop') arrive(Promise.all(Array.from(event.dataTransfer.items, (item) => take(item))));
    }, true);
  }

  const served = {
    arrived: null,
    expect() {
      served.arrived = new Promise((resolve) => { arrive = resolve; });
      served.taken = new Promise((resolve) => { taken = () => resolve(true); });
    },
    /** Keep what was dropped; the number of files. */
    async keep() {
      handles = await served.arrived;
      arrive = null;
      return handles.length;
    },
    forget() {
      [arrive, handles] = [null, []];
    },
  };
  listen(window, `${CHANNEL}:pickers`, ({ detail }) => Object.assign(detail, { expect: true, served }));

  window.showOpenFilePicker = new Proxy(window.showOpenFilePicker, {
    apply(target, self, args) {
      const fits = handles.length === 1 || (handles.length && args[0]?.multiple);
      if (!fits) return apply(target, self, args);
      const given = handles;
      served.forget();
      taken();
      return Promise.resolve(given);
    },
  });
}
