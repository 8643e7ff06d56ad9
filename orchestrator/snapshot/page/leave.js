// Tells when a document has come, and keeps a page from leaving for another program.
const WEB = /^(?:https?|about|blob|data|file|filesystem|javascript|view-source|chrome[a-z-]*|edge|moz-extension):/i;
let stopped = null;

/**
 * The browser would ask whether another program may open such an address, in a window of its own that no driver sees and
 * that takes every click from the page. Phones ask nobody: there it opens an app, which may be what is tried.
 */
function stopForeign(event) {
  const { url } = event.destination;
  if (WEB.test(url) || /Android|iPhone|iPad/.test(navigator.userAgent)) return;
  event.preventDefault();
  const head = headWindow();
  if (head === window) noteStopped(url);
  else head[KEY].noteStopped(url);
}

if (window.navigation) listen(window.navigation, 'navigate', stopForeign);

function noteStopped(url) {
  stopped = cut(url, LONGEST);
}

/** The address that was stopped since the last answer; undefined where none was. */
function takeStopped() {
  const url = stopped ?? undefined;
  stopped = null;
  return url;
}

/** The trip that led to this document, as its first caller says; no trip where that caller asked for something else. */
let arrival = null;

function noteArrival(trip = 'before any') {
  arrival ??= trip;
}

/**
 * loaded({states, slice, trip, asked?, before?}): whether the document is in one of these states; `failed` is the error
 * code on the page that Chromium shows for what could not be loaded, '' where it has none; `stayed` says that the
 * document was there before this trip, and has not the address asked for; `overtaken` that it is not what was asked
 * for, since the page before it (at `before`) went somewhere at the same moment.
 */
async function loaded({ states, slice, trip, asked, before }) {
  noteArrival(trip);
  const stayed = arrival !== trip && !isAsked(asked);
  const isThere = () => states.includes(dom.readyState(window.document));
  await new Promise((resolve) => {
    if (isThere()) return void resolve();
    listen(window.document, 'readystatechange', () => void (isThere() && resolve()));
    setTimer(resolve, slice);
    return undefined;
  });
  const isError = isThere() && (window.location.protocol === 'chrome-error:' || isBlankInstead(asked));
  const overtaken = !stayed && asked && isOther(asked, before);
  return { there: isThere(), failed: isError ? errorCode() : undefined, stayed, overtaken };
}

/** WebKitGTK puts a blank document, with the reason as its text, in the place of a page that it could not load. */
function isBlankInstead(asked) {
  const isBlank = dom.url(window.document) === 'about:blank' && !entriesOf('navigation').length;
  return Boolean(asked) && isBlank && !window.chrome && !asked.startsWith('about:');
}

const entriesOf = performance.getEntriesByType.bind(performance);
const bare = (url) => withoutUser(url.replace(/#.*/s, ''));

/** True for the document of this address, whatever the fragment. */
const isAsked = (asked) => Boolean(asked) && bare(dom.url(window.document)) === bare(new URL(asked).href);

/** True where the page of this address sent the browser here; pages elsewhere are told its origin alone. */
function cameFrom(asked, before) {
  const from = bare(dom.referrer(window.document));
  const { href, origin } = new URL(asked);
  return from === bare(href) || (from === `${origin}/` && from !== bare(before ?? ''));
}

/** Neither the document of this address nor one that it led to, by a redirect or by itself, but the page before, once more. */
function isOther(asked, before) {
  const [entry] = entriesOf('navigation');
  if (!entry || entry.redirectCount || isAsked(asked) || cameFrom(asked, before)) return false;
  return entry.type === 'reload' || bare(dom.url(window.document)) === bare(before ?? '');
}

function errorCode() {
  const [code] = queryAll(window.document, '.error-code');
  const said = dom.textContent(code ?? dom.body(window.document)).trim();
  return code || window.location.protocol === 'about:' ? said : '';
}

/** A promise that is given up after so many ms, by timers that the page cannot have replaced. */
const timed = (promise, ms, message) => new Promise((resolve, reject) => {
  setTimer(() => reject(new Error(message)), ms);
  afterwards(promise, resolve, (thrown) => reject(carriable(thrown)));
});

/** What was thrown, with a message that the driver can carry. */
function carriable(thrown) {
  const message = `${thrown?.message ?? ''}`;
  return wellFormed(message) === message ? thrown : new Error(wellFormed(message));
}
