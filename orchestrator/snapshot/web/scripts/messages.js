// Notes the messages that come and go while a step is observed: an alert that said why may be gone before anybody looks.
const MESSAGE_ROLES = wordSet('alert alertdialog dialog status');
/** Roles of what is a message only if it is a live region. */
const UNTOLD_ROLES = wordSet('generic paragraph group');
const MESSAGE_CSS = '[role],[aria-live],dialog,output';
const LONGEST_SAYING = 200;
const MOST_PASSED = 10;
/** Messages that are remembered, of a page that writes ever new ones, and nodes of a change that are looked at. */
const MOST_MESSAGES = 200;

const messages = {
  /** What each message says while it is there; `born` is the number of messages that had come by then. */
  shown: new Map(),
  /** Those that are gone, in the order in which they went. */
  gone: [],
  born: 0,
};

/** The role of a message as it is told, or '' for what is none. */
function messageRole(element) {
  const role = roleOf(element);
  if (MESSAGE_ROLES.has(role)) return role;
  const live = attribute(element, 'aria-live');
  if (role && !UNTOLD_ROLES.has(role)) return '';
  return live === 'assertive' ? 'alert' : live === 'polite' ? 'status' : '';
}

/** What a message says: a dialog its name, anything else its text, unless that is of messages inside it. */
function sayingOf(element, role) {
  const name = /dialog$/.test(role) ? nameOf(element, role) : '';
  if (!name) for (const inner of queryAll(element, MESSAGE_CSS)) if (messageRole(inner)) return '';
  return cut(normal(name || dom.textContent(element)), LONGEST_SAYING);
}

/** Notes what is there now, which is no news for the mark that begins; returns the number of messages so far. */
function beginMessages(roots) {
  lookAtMessages(roots.flatMap((root) => [...queryAll(root, MESSAGE_CSS)]));
  return messages.born;
}

/** Looks at the messages that these changes concern. */
function noteMessages(records) {
  if (!messages.shown.size && !records.some(({ addedNodes }) => addedNodes.length)) return;
  const concerned = new Set();
  for (const { target, addedNodes } of records.slice(0, MOST_MESSAGES)) {
    for (const node of [target, ...Array.from(addedNodes).slice(0, MOST_MESSAGES)]) addMessages(node, node !== target, concerned);
  }
  lookAtMessages(concerned);
}

/** Adds the messages around a node, and with `isNew` those inside it, which came with it. */
function addMessages(node, isNew, concerned) {
  const element = dom.type(node) === ELEMENT ? node : dom.parent(node);
  if (!element || dom.type(element) !== ELEMENT) return;
  for (let at = dom.closest(element, MESSAGE_CSS); at; at = dom.parent(at) && dom.closest(dom.parent(at), MESSAGE_CSS)) {
    concerned.add(at);
    if (dom.type(dom.parent(at)) !== ELEMENT) break;
  }
  if (isNew) for (const inner of queryAll(element, MESSAGE_CSS)) concerned.add(inner);
}

/** Brings what is remembered up to date: all that are shown, and these elements. */
function lookAtMessages(concerned = []) {
  for (const element of new Set([...concerned, ...messages.shown.keys()])) {
    const known = messages.shown.get(element);
    const role = isLive(element) ? messageRole(element) : '';
    // Whether it can be read takes a layout of the page.
    if (!known && !role) continue;
    const text = role && isReadable(element) ? sayingOf(element, role) : '';
    if (text !== (known?.text ?? '')) replaceMessage(element, known, { role, text });
  }
}

/** Notes what an element says now; what it said before is gone, unless it only goes on. */
function replaceMessage(element, known, now) {
  const goesOn = known && now.text !== '' && (now.text.startsWith(known.text) || bareOf(now) === bareOf(known));
  if (known && !goesOn) noteGone(known);
  if (!now.text) messages.shown.delete(element);
  else if (known || messages.shown.size < MOST_MESSAGES) {
    messages.born += goesOn ? 0 : 1;
    messages.shown.set(element, { ...now, born: goesOn ? known.born : messages.born });
  }
}

/** A text without its numbers: "2 of 9" goes on where "1 of 9" was. */
const bareOf = ({ text }) => text.replace(/\d+/g, '#');

function noteGone({ role, text, born }) {
  if (LOADING.test(text)) return;
  messages.gone.push({ born, line: `${role} ${quoted(text)}` });
  if (messages.gone.length > MOST_MESSAGES) messages.gone.shift();
}

/** The lines of the messages that came and went since so many had come; one that came again is counted. */
function cameAndWent(before) {
  lookAtMessages();
  const times = new Map();
  for (const { born, line } of messages.gone) if (born > before) times.set(line, (times.get(line) ?? 0) + 1);
  const lines = [...times].slice(0, MOST_PASSED).map(([line, count]) => (count > 1 ? `${line} (${count} times)` : line));
  return lines.length ? lines : undefined;
}
