// Notes the permissions that the page asks its user for, without changing the request or its answer.
const asked = new Set();
/** The origin that asks; for a document without a URL, such as an empty popup, that of the page that opened it. */
const HERE = window.location.origin === 'null' ? window.origin : window.location.origin;

/** Notes it in the head of the cluster, whose engine answers: `geolocation https://shop.example`. */
function noteAsked(what, origin) {
  const head = headWindow();
  if (head === window) asked.add(`${what} ${origin}`);
  else head[KEY].noteAsked(what, origin);
}

/** The permissions asked for since the last answer, or undefined. */
function takeAsked() {
  const taken = asked.size ? [...asked] : undefined;
  asked.clear();
  return taken;
}

/** Notes the permissions that calls of this function ask for. */
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

const mediaOf = ([constraints]) => keysOf(MEDIA).filter((kind) => constraints?.[kind]).map((kind) => MEDIA[kind]);

/** In an insecure context the browser refuses without asking. */
if (window.isSecureContext) {
  for (const [type, name, what] of ASKING) hear(window[type]?.prototype, name, () => [what]);
  for (const [type, name, what] of ASKING_AT_ONCE) hear(window[type], name, () => [what]);
  for (const [name, what] of ASKING_WINDOW) hear(window, name, () => [what]);
  hear(window.MediaDevices?.prototype, 'getUserMedia', mediaOf);
}
