// Installs the engine: one entry for every method, one JSON text for every answer.
const METHODS = {
  snapshot, ready, verify, scrollInfo, scrolled, intoView, text, mark: beginMark, settle, delta, wait, outwards, serialized,
  state: () => ({ ...describePage(), readyState: dom.readyState(window.document) }),
};

/** The answer as text, with what became of the range of refs. */
function answer(result) {
  return encode({ ...(reserved.missing ? { needRefs: reserved.missing } : result), nextRef: reserved.next });
}

/** Refusals are answers; anything else is a fault of the engine, told as one. */
function explain(error) {
  if (error instanceof Elsewhere) return answer(error.answer);
  if (error instanceof Refusal) return answer({ ...error.answer, frames: crossOriginFrames() });
  return encode({ error: `${error?.message ?? error}`, stack: `${error?.stack ?? ''}` });
}

const engine = {
  /** Runs a method; in a child of a cluster, the head's engine does. */
  call(name, json) {
    const head = headWindow();
    if (head !== window) return head[KEY].call(name, json);
    try {
      const params = parseJson(json);
      noteSecrets(unmasking.takeRecords());
      reserve(params.refs);
      if (!Object.hasOwn(METHODS, name)) throw new Error(`there is no method ${name}`);
      const result = METHODS[name](params);
      return result instanceof Promise ? result.then(answer, explain) : answer(result);
    } catch (error) {
      return explain(error);
    }
  },

  /** The arguments of a script as values, or as text why there are none; refs are reserved for what it will answer. */
  args(json, refs) {
    const head = headWindow();
    if (head !== window) return head[KEY].args(json, refs);
    reserve(refs);
    try {
      return revive(parseJson(json));
    } catch (error) {
      return error.answer ? encode({ ...error.answer, nextRef: reserved.next }) : explain(error);
    }
  },

  /** The answer of such a script. The value is kept: a lack of refs must not run the script twice. */
  serialize(value) {
    const head = headWindow();
    if (head !== window) return head[KEY].serialize(value);
    kept.value = value;
    return answer(serialized());
  },

  /** The element that `ready` kept, for the one command that needs a WebElement. */
  handle: () => (acting.handle && isLive(acting.handle) ? acting.handle : null),
  requests: ownRequests,
};

defineProperty(window, KEY, { value: Object.freeze(engine) });
