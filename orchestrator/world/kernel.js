// Runs the scripts of one session. Nothing here calls the server: a script's actions wait in a queue, which the server
// empties between two evaluations.
const SCRIPT = /script-(\d+):(\d+):\d+/;

const queue = [];
const called = new Map();
const timers = new Map();
const said = [];
let number = 0;
let script = 0;
let facts = {};
let ended = null;
let lost = 0;

/** Where the newest of the caller's own lines on a stack is. */
function place(error) {
  const found = SCRIPT.exec(error && typeof error === 'object' ? `${error.stack}` : '');
  return found ? { script: +found[1], line: +found[2] } : {};
}

// Actions

class ActionError extends Error {
  get name() { return 'ActionError'; }
}

/** A promise that knows whether anybody looks at what becomes of it. */
class Answer extends Promise {
  static get [Symbol.species]() { return Promise; }

  then(...handlers) {
    this.heard = true;
    return super.then(...handlers);
  }
}

function act(name, verb, given) {
  const [parameters = {}, ...more] = given;
  if (more.length || parameters === null || typeof parameters !== 'object' || Array.isArray(parameters)) {
    throw new TypeError(`${name} takes one object of parameters, such as {selector: "#save"}`);
  }
  const error = new ActionError();
  const id = number += 1;
  let settle;
  const promise = new Answer((resolve, reject) => { settle = { resolve, reject }; });
  called.set(id, { ...settle, error, promise, name });
  queue.push({ number: id, verb, parameters: parse(stringify(parameters)) });
  return promise;
}

function answer(id, value) {
  const call = called.get(id);
  called.delete(id);
  call.resolve(value);
}

function refuse(id, told) {
  const call = called.get(id);
  called.delete(id);
  Object.assign(call.error, told);
  Object.defineProperty(call.error, 'message', { value: told.message, configurable: true, writable: true });
  failures.set(call.error, id);
  if (!call.promise.heard) unheard.push({ id, promise: call.promise, name: call.name, said: told.message });
  call.reject(call.error);
}

const failures = new WeakMap();
const unheard = [];

// Time

function setTimer(again, callback, delay, given) {
  if (typeof callback !== 'function') throw new TypeError('a timer takes a function');
  const id = number += 1;
  const pause = Math.max(again ? 1 : 0, delay | 0); // as the HTML standard takes it: Infinity is 0
  timers.set(id, { at: Date.now() + pause, pause, again, callback, given });
  return id;
}

/** The timer that is due first. */
function next() {
  return [...timers].reduce((first, one) => (first && first[1].at <= one[1].at ? first : one), undefined);
}

function tick() {
  const [id, timer] = next() ?? [];
  if (!timer || timer.at > Date.now()) return;
  if (timer.again) timer.at = Date.now() + timer.pause;
  else timers.delete(id);
  try {
    timer.callback(...timer.given);
  } catch (error) {
    print('error', [`Uncaught in a timer: ${printed(error)}`]);
  }
}

// Console

function print(level, given) {
  const text = `${level === 'log' ? '' : `${level}: `}${given.map(printed).join(' ')}`;
  if (said.length >= limits.lines) lost += 1;
  else said.push(text.length > limits.line ? `${text.slice(0, limits.line)}…` : text);
}

const speaker = Object.fromEntries(
  ['log', 'debug', 'info', 'warn', 'error'].map((level) => [level, (...given) => print(level, given)]),
);

// Vars

let kept = new Map();
let changed = false;

function name(given) {
  if (typeof given !== 'string' || !given) throw new TypeError('the name of a var is a string');
  return given;
}

const vars = {
  get: (given) => kept.get(name(given)),
  has: (given) => kept.has(name(given)),
  keys: () => [...kept.keys()],
  set(given, value) {
    name(given);
    if (typeof value !== 'string') {
      throw new TypeError(`vars.set("${given}"): the value is a string, and this is ${value === null ? 'null' : `a ${typeof value}`}; use JSON.stringify or String`);
    }
    if (!given.isWellFormed() || !value.isWellFormed()) throw new TypeError('vars.set: half of a surrogate pair is no text');
    let size = given.length + value.length;
    for (const [other, text] of kept) if (other !== given) size += other.length + text.length;
    if (size > limits.vars) throw new RangeError(`vars.set("${given}"): all vars of a session together have at most ${limits.vars} characters`);
    kept.set(given, value);
    changed = true;
  },
  delete(given) {
    const was = kept.delete(name(given));
    changed ||= was;
    return was;
  },
};

// What a script finds

/** An object whose wrong names are answered with the right ones. */
function helpful(title, members) {
  return new Proxy(Object.freeze(members), {
    get(target, key) {
      if (key in target || typeof key === 'symbol' || key === 'then' || key === 'toJSON') return target[key];
      const near = Object.keys(target).filter((one) => one.toLowerCase().includes(key.toLowerCase()));
      throw new TypeError(`${title} has no ${key}; it has ${(near.length ? near : Object.keys(target)).join(', ')}`);
    },
  });
}

function methods(object) {
  const own = functions.filter((one) => one.object === object);
  return Object.fromEntries(own.map((one) => [one.method, (...given) => act(`${object}.${one.method}`, one.verb, given)]));
}

const shown = (part) => async () => (await act(`page.${part}`, 'get_visible_elements', [{ limit: 1 }]))[part];

const IN_PAGE = `
const [url, how] = arguments;
const at = new URL(url, location.href);
for (const [name, value] of Object.entries(how.params ?? {})) at.searchParams.append(name, value);
const body = how.form ? new URLSearchParams(how.form) : how.body;
try {
  const answer = await fetch(at, {method: how.method, headers: how.headers, body, credentials: 'include'});
  const headers = Object.fromEntries(answer.headers);
  return {url: answer.url, status: answer.status, statusText: answer.statusText, headers, body: await answer.text()};
} catch (error) {
  return {failed: String(error)};
}`;

async function ask(method, url, { headers = {}, params, data, form, timeout, ...rest } = {}) {
  const unknown = Object.keys(rest);
  if (unknown.length) throw new TypeError(`request takes headers, params, data, form and timeout, and no ${unknown}`);
  const asJson = data !== undefined && typeof data !== 'string';
  const all = asJson ? { 'content-type': 'application/json', ...headers } : headers;
  const how = { method, headers: all, params, form, body: asJson ? stringify(data) : data };
  const { value } = await act('request', 'execute_script', [{ script: IN_PAGE, args: [`${url}`, how], ...(timeout ? { timeout } : {}) }]);
  if (!value) throw new Error(`${method} ${url}: the page was left, or a dialog opened, before it was answered`);
  if (value.failed) throw new Error(`${method} ${url}: ${value.failed}. The page asks, under its rules: for another site navigate there first`);
  const { body, ...answered } = value;
  return { ...answered, ok: value.status >= 200 && value.status < 300, text: () => body, json: () => parse(body) };
}

const asking = ['get', 'post', 'put', 'patch', 'delete', 'head'].map(
  (method) => [method, (url, options) => ask(method.toUpperCase(), url, options)],
);

const own = {
  page: helpful('page', { ...methods('page'), url: shown('url'), title: shown('title') }),
  context: helpful('context', methods('context')),
  browser: helpful('browser', {
    ...methods('browser'), sessionId: () => facts.sessionId, type: () => facts.type, capabilities: () => parse(stringify(facts.capabilities)),
  }),
  request: helpful('request', Object.fromEntries(asking)),
  vars: helpful('vars', vars),
  console: speaker,
};
for (const [word, value] of Object.entries(own)) {
  Object.defineProperty(globalThis, word, {
    get: () => value,
    set() { throw new TypeError(`${word} is the session's own: choose another name`); },
  });
}
const actions = functions.map(({ verb }) => [verb, (...given) => act(verb, verb, given)]);
globalThis.setTimeout = (callback, delay, ...given) => setTimer(false, callback, delay, given);
globalThis.setInterval = (callback, delay, ...given) => setTimer(true, callback, delay, given);
globalThis.clearTimeout = globalThis.clearInterval = (id) => { timers.delete(id); };
globalThis.__timer_manager = undefined;
for (const word of ['Atomics', 'SharedArrayBuffer', 'WebAssembly']) delete globalThis[word];

// The server's side

return {
  /** Call a function of these; what it takes is JSON, in which no name means anything else. */
  call(method, given) { return this[method](...parse(given)); },

  /** Take over the vars as they stand in the record. */
  load(given) { kept = new Map(Object.entries(given)); changed = false; },

  /** A global as JSON. */
  global(word) { return stringify(portable(globalThis[word])); },

  setGlobal(word, value) { globalThis[word] = value; },

  /** Before a script: what it declares has names, one that is there keeps its value, and each action is itself again. */
  begin(given, names) {
    this.load(given);
    for (const [verb, action] of actions) globalThis[verb] = action;
    for (const one of names) if (!(one in globalThis)) globalThis[one] = undefined;
  },

  /** Begin a script; what becomes of it is told by `step`. */
  run(count, now, body) {
    script = count;
    facts = now;
    ended = null;
    body.call(globalThis).then(
      (value) => { ended = { value }; },
      (error) => { ended = { error }; },
    );
  },

  answer, refuse, tick,

  /** What is to be done next, as JSON; with what the script came to, its call ends. */
  step() {
    const told = this.outlook();
    return stringify({ ...told, ...('act' in told || 'wait' in told ? this.news() : this.end()) });
  },

  outlook() {
    if (ended && 'error' in ended) return { error: this.described(ended.error) };
    if (queue.length) return { act: queue.shift() };
    if (ended) return this.finished();
    const first = next();
    return first ? { wait: Math.max(0, first[1].at - Date.now()) } : { stuck: true };
  },

  /** What it returned; what that throws as it is read, the script threw. */
  finished() {
    try {
      const alone = unheard.filter((one) => !one.promise.heard);
      return { value: portable(ended.value) ?? null, warnings: alone.map((one) => `${one.name} was not awaited, and failed: ${one.said}`) };
    } catch (error) {
      return { error: this.described(error) };
    }
  },

  /** The vars, if the script has changed them. */
  news() {
    const told = changed ? { vars: Object.fromEntries(kept) } : {};
    changed = false;
    return told;
  },

  described(error) {
    try {
      const at = place(error);
      const own = at.script === script ? { line: at.line } : at.line ? { line: at.line, earlier: true } : {};
      return { text: printed(error), ...own, ...(failures.has(error) ? { number: failures.get(error) } : {}) };
    } catch {
      return { text: 'something that cannot be read' };
    }
  },

  /** End a call: nothing of it goes on. What it printed; as JSON where it was stopped. */
  end() {
    queue.length = unheard.length = 0;
    for (const each of [called, timers]) each.clear();
    const console = [...said.splice(0), ...(lost ? [`… ${lost} more lines`] : [])];
    lost = 0;
    return { console, ...this.news() };
  },

  finish() { return stringify(this.end()); },
};
