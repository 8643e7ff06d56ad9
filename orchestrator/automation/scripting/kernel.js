// Runs the scripts of a session. Nothing here calls the server: a script's actions are queued, and the server takes
// them between two evaluations.
const SCRIPT = /script-(\d+):(\d+):\d+/;

const queue = [];
const called = new Map();
const timers = new Map();
const lines = [];
let number = 0;
let script = 0;
let facts = {};
let ended = null;
let dropped = 0;

/** The script and line of the topmost stack frame in a script of the caller. */
function place(error) {
  const found = SCRIPT.exec(error && typeof error === 'object' ? `${error.stack}` : '');
  return found ? { script: +found[1], line: +found[2] } : {};
}

// Actions

class ActionError extends Error {
  get name() { return 'ActionError'; }
}

/** A promise that records whether its outcome is handled. */
class Answer extends Promise {
  static get [Symbol.species]() { return Promise; }

  then(...handlers) {
    this.handled = true;
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

function refuse(id, failure) {
  const call = called.get(id);
  called.delete(id);
  Object.assign(call.error, failure);
  Object.defineProperty(call.error, 'message', { value: failure.message, configurable: true, writable: true });
  failures.set(call.error, id);
  if (!call.promise.handled) unhandled.push({ id, promise: call.promise, name: call.name, message: failure.message });
  call.reject(call.error);
}

const modules = new Map();
const failures = new WeakMap();
const unhandled = [];

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
  if (lines.length >= limits.lines) dropped += 1;
  else lines.push(text.length > limits.line ? `${text.slice(0, limits.line)}…` : text);
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
    if (!given.isWellFormed() || !value.isWellFormed()) throw new TypeError('vars.set: the text holds half of a surrogate pair');
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

// Objects for scripts

/** An object that throws for unknown names, naming similar ones. */
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
  if (unknown.length) throw new TypeError(`request takes headers, params, data, form and timeout, not ${unknown}`);
  const asJson = data !== undefined && typeof data !== 'string';
  const all = asJson ? { 'content-type': 'application/json', ...headers } : headers;
  const how = { method, headers: all, params, form, body: asJson ? stringify(data) : data };
  const { value } = await act('request', 'execute_script', [{ script: IN_PAGE, args: [`${url}`, how], ...(timeout ? { timeout } : {}) }]);
  if (!value) throw new Error(`${method} ${url}: the page was left, or a dialog opened, before the response`);
  if (value.failed) throw new Error(`${method} ${url}: ${value.failed}. The page sends the request, under its own rules: navigate to another site first`);
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
    set() { throw new TypeError(`${word} is a built-in object: choose another name`); },
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
  /** Call one of these functions with JSON arguments, in which scripts cannot redefine anything. */
  call(method, given) { return this[method](...parse(given)); },

  /** Load the vars of the record. */
  load(given) { kept = new Map(Object.entries(given)); changed = false; },

  /** A global as JSON. */
  global(word) { return stringify(portable(globalThis[word])); },

  setGlobal(word, value) { globalThis[word] = value; },

  /** Prepare a script: load the vars, restore the actions, declare its names; existing globals keep their values. */
  begin(given, names) {
    this.load(given);
    for (const [verb, action] of actions) globalThis[verb] = action;
    for (const one of names) if (!(one in globalThis)) globalThis[one] = undefined;
  },

  /** Evaluate a module, once in a world; `body` gets its exports and a function that returns those of another. */
  define(path, body) {
    const exports = {};
    body(exports, (other) => modules.get(other));
    modules.set(path, exports);
  },

  /** Set globals to exports of modules; `*` is all of them. */
  bind(bindings) {
    for (const [path, taken, local] of bindings) {
      const exports = modules.get(path);
      if (taken !== '*' && !(taken in exports)) throw new TypeError(`the module ${path} does not export ${taken}`);
      globalThis[local] = taken === '*' ? exports : exports[taken];
    }
  },

  /** Begin a script; `step` returns its progress. */
  run(count, current, body) {
    script = count;
    facts = current;
    ended = null;
    body.call(globalThis).then(
      (value) => { ended = { value }; },
      (error) => { ended = { error }; },
    );
  },

  answer, refuse, tick,

  /** The next step as JSON: an action, a wait, or the script's outcome, which ends the call. */
  step() {
    const next = this.nextStep();
    return stringify({ ...next, ...('act' in next || 'wait' in next ? this.changedVars() : this.end()) });
  },

  nextStep() {
    if (ended && 'error' in ended) return { error: this.described(ended.error) };
    if (queue.length) return { act: queue.shift() };
    if (ended) return this.finished();
    const first = next();
    return first ? { wait: Math.max(0, first[1].at - Date.now()) } : { stuck: true };
  },

  /** The returned value; an exception while it is read is the script's. */
  finished() {
    try {
      const missed = unhandled.filter((one) => !one.promise.handled);
      return { value: portable(ended.value) ?? null, warnings: missed.map((one) => `${one.name} was not awaited, and failed: ${one.message}`) };
    } catch (error) {
      return { error: this.described(error) };
    }
  },

  /** The vars, if the script has changed them. */
  changedVars() {
    const news = changed ? { vars: Object.fromEntries(kept) } : {};
    changed = false;
    return news;
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

  /** End a call with its actions and timers; returns its console lines and vars. */
  end() {
    queue.length = unhandled.length = 0;
    for (const each of [called, timers]) each.clear();
    const console = [...lines.splice(0), ...(dropped ? [`… ${dropped} more lines`] : [])];
    dropped = 0;
    return { console, ...this.changedVars() };
  },

  finish() { return stringify(this.end()); },
};
