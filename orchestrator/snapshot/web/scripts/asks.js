// Keeps the permissions that the page asks its user for, as the hooks report them.
const PERMISSIONS = wordSet(`
  geolocation notifications shown-notification clipboard-read persistent-storage midi idle-detection local-fonts window-management
  microphone camera`);
const asked = new Set();
/** The origin that asks; for a document without a URL, such as an empty popup, that of the page that opened it. */
const HERE = window.location.origin === 'null' ? window.origin : window.location.origin;

listen(window, CHANNEL, ({ detail }) => {
  const [, permission] = /^asks ([a-z-]{1,30})$/.exec(`${detail}`) ?? [];
  if (PERMISSIONS.has(permission)) noteAsked(permission, HERE);
});

/** Notes it in the head of the cluster, whose engine answers: `geolocation https://shop.example`. */
function noteAsked(what, origin) {
  const head = headWindow();
  if (head === window) asked.add(`${what} ${origin}`);
  else engineOf(head).noteAsked(what, origin);
}

/** The permissions asked for since the last answer, or undefined. */
function takeAsked() {
  const taken = asked.size ? [...asked] : undefined;
  asked.clear();
  return taken;
}
