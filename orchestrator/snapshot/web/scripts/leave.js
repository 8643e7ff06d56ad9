// Waits for documents to load, and keeps a page from opening another program.
const WEB = /^(?:https?|about|blob|data|file|filesystem|javascript|view-source|chrome[a-z-]*|edge|moz-extension):/i;
let stopped = null;

/**
 * A desktop browser would ask for permission to open the program, in a window of its own that no driver sees and that
 * takes every click from the page. A phone opens the app without asking, which may be intended.
 */
function stopForeign(event) {
  const { url } = event.destination;
  if (WEB.test(url) || /Android|iPhone|iPad/.test(navigator.userAgent)) return;
  event.preventDefault();
  const head = headWindow();
  if (head === window) noteStopped(url);
  else engineOf(head).noteStopped(url);
}

if (window.navigation) listen(window.navigation, 'navigate', stopForeign);

function noteStopped(url) {
  stopped = cut(url, LONGEST);
}

/** The URL that was stopped since the last answer, or undefined. */
function takeStopped() {
  const url = stopped ?? undefined;
  stopped = null;
  return url;
}

/** The navigation that led to this document, by its first caller; another value if that caller did not navigate. */
let arrival = null;

function noteArrival(trip = 'before any') {
  arrival ??= trip;
}

/**
 * loaded({states, slice, trip, asked?, before?}): `there` if the document is in one of these states; `failed` is the
 * error code on Chromium's error page, or ''; `stayed` is true if the document was there before this navigation and has
 * not the URL asked for; `overtaken` if the page before it (at `before`) navigated elsewhere at the same moment; `leaves`
 * if the document led on to another one, which is not there yet.
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
  const leaves = isThere() && (await leadsOn());
  const isError = isThere() && (window.location.protocol === 'chrome-error:' || isErrorOfFirefox() || isBlankInstead(asked));
  const overtaken = Boolean(!stayed && asked && isOther(asked, before));
  return { there: isThere(), failed: isError ? errorCode() : undefined, stayed, overtaken, leaves: leaves || undefined };
}

/** Ms between the answer of a server and the document that it becomes. */
const ARRIVING = 300;

/** True if this document leads to another one. Firefox alone answers meanwhile: other drivers hold calls back then. */
async function leadsOn() {
  const leads = () => inFirefox && leaving.since !== null;
  if (leads()) await pause(ARRIVING);
  return leads();
}

/** Firefox shows a page of its own, with the code in its address, under the URL of the page that it could not load. */
const FIREFOX_ERROR = /^about:(?:neterror|certerror)\?e=(\w+)/;
const isErrorOfFirefox = () => FIREFOX_ERROR.test(dom.url(window.document));

/** WebKitGTK shows a blank document, with the reason as its text, instead of a page that it could not load. */
function isBlankInstead(asked) {
  const isBlank = dom.url(window.document) === 'about:blank' && !entriesOf('navigation').length;
  return Boolean(asked) && isBlank && !window.chrome && !asked.startsWith('about:');
}

const entriesOf = performance.getEntriesByType.bind(performance);
const bare = (url) => withoutUser(url.replace(/#.*/s, ''));

/** True if the document has this URL, whatever the fragment. */
const isAsked = (asked) => Boolean(asked) && bare(dom.url(window.document)) === bare(new URL(asked).href);

/** True if the page at this URL led here; pages of other origins see only its origin as the referrer. */
function cameFrom(asked, before) {
  const from = bare(dom.referrer(window.document));
  const { href, origin } = new URL(asked);
  return from === bare(href) || (from === `${origin}/` && from !== bare(before ?? ''));
}

/** True if the document is the page before, once more: neither this URL nor a page that it redirected or led to. */
function isOther(asked, before) {
  const [entry] = entriesOf('navigation');
  if (!entry || entry.redirectCount || isAsked(asked) || cameFrom(asked, before)) return false;
  return entry.type === 'reload' || bare(dom.url(window.document)) === bare(before ?? '');
}

function errorCode() {
  const [, ofFirefox] = FIREFOX_ERROR.exec(dom.url(window.document)) ?? [];
  if (ofFirefox) return ofFirefox;
  const [code] = queryAll(window.document, '.error-code');
  const text = dom.textContent(code ?? dom.body(window.document)).trim();
  return code || window.location.protocol === 'about:' ? text : '';
}
