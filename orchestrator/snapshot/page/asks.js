// Hears what the page asks its user for; who asks and what is answered stays as it is.
const asked = new Set();
/** Where it was asked: a document without an address, such as an empty popup, is of the page that made it. */
const HERE = window.location.origin === 'null' ? window.origin : window.location.origin;

/** Noted in the head of the cluster, for its engine answers: `geolocation https://shop.example`. */
function noteAsked(what, origin) {
  const head = headWindow();
  if (head === window) asked.add(`${what} ${origin}`);
  else head[KEY].noteAsked(what, origin);
}

/** What was asked for since the last answer; undefined where that was nothing. */
function takeAsked() {
  const taken = asked.size ? [...asked] : undefined;
  asked.clear();
  return taken;
}

/** Notes what a call of this function asks for. */
function hear(owner, name, naming) {
  if (!owner) return;
  wrap(owner, name, (target, self, args) => {
    for (const what of naming(args)) noteAsked(what, HERE);
    return apply(target, self, args);
  });
}

const MEDIA = { audio: 'microphone', video: 'camera' };
const ASKING = [
  ['Geolocation', 'getCurrentPosition', 'geolocation'],
  ['Geolocation', 'watchPosition', 'geolocation'],
  ['PushManager', 'subscribe', 'notifications'],
  ['Clipboard', 'read', 'clipboard-read'],
  ['Clipboard', 'readText', 'clipboard-read'],
  ['StorageManager', 'persist', 'persistent-storage'],
  ['Navigator', 'requestMIDIAccess', 'midi'],
];
const ASKING_AT_ONCE = [
  ['Notification', 'requestPermission', 'notifications'],
  ['IdleDetector', 'requestPermission', 'idle-detection'],
];
const ASKING_WINDOW = [['queryLocalFonts', 'local-fonts'], ['getScreenDetails', 'window-management']];

const mediaOf = ([wish]) => keysOf(MEDIA).filter((kind) => wish?.[kind]).map((kind) => MEDIA[kind]);

/** Pages from anywhere but secure origins are refused without a question. */
if (window.isSecureContext) {
  for (const [type, name, what] of ASKING) hear(window[type]?.prototype, name, () => [what]);
  for (const [type, name, what] of ASKING_AT_ONCE) hear(window[type], name, () => [what]);
  for (const [name, what] of ASKING_WINDOW) hear(window, name, () => [what]);
  hear(window.MediaDevices?.prototype, 'getUserMedia', mediaOf);
}
