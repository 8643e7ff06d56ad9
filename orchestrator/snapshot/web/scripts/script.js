// Runs the caller's scripts in the page's own world. The engine hands elements over and takes them, by events; a number
// stands for each in the JSON.
let handBack = null;
/** Characters of JSON that an answer may have, and of the message of an error. */
const MOST_JSON = 1_000_000;
const LONGEST_MESSAGE = 2000;

/** The data that replaces a value of the page: what `handBack` says of an element, the name of another object. */
function instead(value, kind) {
  const type = nodeType(value);
  if (type) return type === 1 ? handBack(value) : `[${kind.slice(8, -1)}]`;
  return kind === '[object Window]' || kind === '[object global]' ? '[Window]' : undefined;
}

const nodeTypeOf = Function.prototype.bind.bind(Function.prototype.call)(
  Object.getOwnPropertyDescriptor(Node.prototype, 'nodeType').get,
);

function nodeType(value) {
  try {
    return nodeTypeOf(value);
  } catch {
    return 0;
  }
}

/** Answers the scripts of `page.py` with the function that runs the caller's. */
function serveScripts() {
  const { Array, CustomEvent, Error, Event, FocusEvent, Object, Promise } = window;
  const { parse } = JSON;
  const uncurry = Function.prototype.bind.bind(Function.prototype.call);
  const listen = uncurry(EventTarget.prototype.addEventListener);
  const unlisten = uncurry(EventTarget.prototype.removeEventListener);
  const dispatch = uncurry(EventTarget.prototype.dispatchEvent);
  const afterwards = uncurry(Promise.prototype.then);
  const setTimer = window.setTimeout.bind(window);

  /** The elements that the engine hands over for a script's arguments. */
  function takeGiven() {
    const elements = [];
    const take = ({ relatedTarget }) => { elements[elements.length] = relatedTarget; };
    listen(window, `${CHANNEL}:given`, take);
    dispatch(window, new Event(`${CHANNEL}:give`));
    unlisten(window, `${CHANNEL}:given`, take);
    return elements;
  }

  function revive(value, mark, elements) {
    if (Array.isArray(value)) return value.map((each) => revive(each, mark, elements));
    if (value === null || typeof value !== 'object') return value;
    if (Object.hasOwn(value, mark)) return elements[value[mark]];
    return Object.fromEntries(Object.keys(value).map((key) => [key, revive(value[key], mark, elements)]));
  }

  /** The promise, rejected after so many ms by a timer that the page cannot have replaced. */
  const timed = (promise, ms, message) => new Promise((resolve, reject) => {
    setTimer(() => reject(new Error(message)), ms);
    afterwards(promise, resolve, (thrown) => reject(carriable(thrown)));
  });

  /** The error, with a message that the driver can transport. */
  function carriable(thrown) {
    const message = `${thrown?.message ?? ''}`;
    const shown = wellFormed(message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE)}…` : message);
    return shown === message ? thrown : new Error(shown);
  }

  async function run(script, { json, mark, limit, late }) {
    const value = await timed(script(revive(parse(json), mark, takeGiven())), limit, late);
    let returned = 0;
    handBack = (element) => {
      dispatch(window, new FocusEvent(`${CHANNEL}:returned`, { relatedTarget: element }));
      returned += 1;
      return { [mark]: returned - 1 };
    };
    const room = { left: MOST_JSON };
    const copied = portable(value, [], room);
    return encode({ value: copied, returned, cut: room.left < 0 });
  }

  const served = {};
  dispatch(window, new CustomEvent(`${CHANNEL}:script`, { detail: served }));
  if (!served.run) listen(window, `${CHANNEL}:script`, ({ detail }) => { detail.run = run; });
}
