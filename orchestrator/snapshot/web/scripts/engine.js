// Installs the engine: one entry for every method, one JSON text for every answer.
const METHODS = {
  snapshot: (params) => ignoring(params.ignore, () => snapshot(params)),
  text: (params) => ignoring(params.ignore, () => text(params)),
  ready, verify, scrollInfo, scrolled, intoView, boxes, source, mark: beginMark, settle, delta, wait, watchFor, clock,
  outwards, frameWay, shot, marked, loaded, pressed, arrived, dropped, audit,
  toggles, slider, assign, editing, pasted, prefilled, inserted, edited, uploaded, focused, typed, optionsHeld, codeBox, codeHeld, offered, surplus, comboboxHeld,
  state: () => ({ ...describePage(), readyState: dom.readyState(window.document) }),
};

/**
 * The answer as text, with the state of the range of refs: JSON on one line, and below it the `lines` of an outline
 * unquoted. They are most of the answer, contain no line breaks, and as JSON would be quoted twice on their way.
 */
function answer(result) {
  const { missing, next } = reserved;
  if (missing.length) {
    unfinished = { result, missing };
    return encode({ needRefs: missing.length, nextRef: next });
  }
  const head = { nextRef: reserved.next, stopped: takeStopped(), asked: takeAsked(), isPart: takeCut() };
  if (!Array.isArray(result.lines)) return encode({ ...result, ...head });
  const { lines, ...facts } = result;
  return `${encode({ ...facts, ...head })}\n${wellFormed(joined(lines, '\n'))}`;
}

let unfinished = null;

/** The answer that lacked refs, with the new ones; null if its document went away. */
function finished() {
  if (!unfinished) return null;
  const { result, missing } = unfinished;
  unfinished = null;
  const refs = missing.map(refOf);
  // If there are still too few numbers, the placeholders keep their indexes into the first list.
  if (reserved.missing.length) reserved.missing = missing;
  return answer(result).replace(PLACEHOLDERS, (_, index) => refs[index]);
}

/** Refusals are answers; any other error is a fault of the engine. */
function explain(error, locator, first) {
  if (error instanceof Elsewhere) return answer({ ...error.answer, first });
  if (error instanceof Refusal) return answer({ ...error.answer, frames: crossOriginFrames(locator), first });
  return encode({ error: `${error?.message ?? error}`, stack: `${error?.stack ?? ''}` });
}

/** The result of a method. */
function done(name, params) {
  if (!Object.hasOwn(METHODS, name)) throw new Error(`there is no method ${name}`);
  beginLook();
  return METHODS[name](params);
}

const engine = {
  /**
   * Runs a method; in a child of a cluster, the head's engine does. The calls in `first`, of methods that need no time
   * and no refs, run before it; their answers come with it, in the same order.
   */
  call(name, json) {
    const head = headWindow();
    if (head !== window) return engineOf(head).call(name, json);
    let locator, first;
    try {
      const params = parseJson(json);
      ({ locator } = params);
      noteSecrets(unmasking.takeRecords());
      reserve(params.refs);
      looking.limit = params.look ?? looking.limit;
      if (name === 'numbered') return finished();
      unfinished = null;
      if (name !== 'loaded') noteArrival();
      first = params.first?.map(([each, asked]) => done(each, asked));
      // A press that missed is made again: what was to follow it waits.
      if (first?.some(({ missed }) => missed)) return answer({ first });
      const finish = (result) => answer({ ...result, first });
      const result = done(name, params);
      // In Firefox `Promise` may be another window's.
      if (typeof result.then !== 'function') return finish(result);
      return result.then(finish, (error) => explain(error, locator, first));
    } catch (error) {
      return explain(error, locator, first);
    }
  },

  /** The arguments of a script without their elements, which wait to be handed over; or the text of a refusal. */
  give(json, mark, refs) {
    const head = headWindow();
    if (head !== window) return engineOf(head).give(json, mark, refs);
    reserve(refs);
    handed.given = [];
    handed.returned = [];
    beginLook();
    try {
      return answer({ value: hold(parseJson(json), mark) });
    } catch (error) {
      handed.given = [];
      return error.answer ? answer(error.answer) : explain(error);
    }
  },

  /** The elements in the value of such a script. */
  takeReturned(refs) {
    const head = headWindow();
    if (head !== window) return engineOf(head).takeReturned(refs);
    reserve(refs);
    return answer({ elements: takeReturned() });
  },

  /** Line and ref of the input that a file chooser was opened for; remembers it if it is outside the document. */
  picked(input, refs) {
    const head = headWindow();
    if (head !== window) return engineOf(head).picked(input, refs);
    reserve(refs);
    loose = dom.connected(input) ? null : input;
    return answer({ line: lineFor(input), ref: refOf(input) });
  },

  /** What axe-core, which was loaded into this window, finds wrong here; the head of the cluster answers. */
  async audit(axe, json, refs) {
    const head = engineOf(headWindow());
    try {
      const asked = parseJson(json);
      const unknown = unknownIn(axe, asked);
      return head.audited(unknown ?? await violationsBy(axe, asked, head.auditing.root), asked.most, refs);
    } catch (error) {
      return explain(error);
    }
  },

  /** The timers that axe-core gets: in a document without scripting the platform's never fire. */
  timers: [(done, ms) => (ms > 0 ? setTimer(done, ms) : soon(done)), (timer) => { if (timer) clearTimer(timer); }],

  audited(result, most, refs) {
    reserve(refs);
    return answer(result.unknown === undefined ? auditedFacts(result, most) : result);
  },

  /** The element that `ready` kept, for the one command that needs a WebElement. */
  handle() {
    const head = headWindow();
    if (head !== window) return engineOf(head).handle();
    return acting.handle && isLive(acting.handle) ? acting.handle : null;
  },

  /** A frame by its ref. */
  frame(ref) {
    const head = headWindow();
    return head === window ? elementOf(ref) : engineOf(head).frame(ref);
  },

  requests: ownRequests,
  clickable,
  auditing,
  handed,
  noteStopped,
  noteAsked,
  noteDeed,
  lastDeed,
  notePointer,
};

defineProperty(window, KEY, { value: Object.freeze(engine) });
// KEY is a name that no page can know.
if (isSandbox) listen(window, KEY, ({ detail }) => { detail.wrappedJSObject.engine = engine; });
