// Tells a refusal that nothing is about to change from one that may be over in a moment.
/** Reasons that a page can change, but mostly does not. */
const LASTING = new Set(['not_a_frame', 'no_file_input', 'not_select', 'no_option', 'several_options', 'disabled', 'readonly']);
/** Ms between the two looks that a refusal takes. */
const SECOND_LOOK = 300;
/** Ms in which a page answers what was done in it, by ways that nobody sees from here: a worker, a socket. */
const ANSWERS = 1500;
/** Ms in which a new document puts itself together. */
const STARTS = 1000;

const lasting = { told: '', since: 0 };

/** Forgets the refusals of the search before. */
function beginRefusals() {
  lasting.told = '';
}

/** True for a refusal that was the same for a while in a page that waits for nothing; it is `settled` then. */
function isSettled(answer) {
  if (!LASTING.has(answer.reason) && !answer.isRole) return false;
  const told = `${answer.reason} ${answer.detail}`;
  if (told !== lasting.told || isUnderWay()) {
    watchChanges();
    lasting.told = told;
    lasting.since = now();
  }
  const isLasting = now() - lasting.since >= SECOND_LOOK && now() - watch.changed >= SECOND_LOOK;
  answer.settled = isLasting && !hasJustBegun();
  return answer.settled;
}

/** True while a request, a timer or a movement of the page may bring something: it gets the same while once it has ended. */
const isUnderWay = () => unrest(noMark) !== null || allDocuments().some(hasTimers);

const hasJustBegun = () => now() < STARTS || (actedAt !== null && now() - actedAt < ANSWERS);

/** True if a timer of a document is pending, or might be; those of a page in the background come late. */
function hasTimers(doc) {
  if (doc.visibilityState !== 'visible') return true;
  const view = dom.window(doc);
  let told = null;
  const hear = ({ detail }) => { told = /^timers (\d+) (\d+)$/.exec(`${detail}`) ?? told; };
  listen(view, CHANNEL, hear);
  dispatch(view, new Event(`${CHANNEL}:timers`));
  unlisten(view, CHANNEL, hear);
  return told === null || Number(told[1]) > 0 || Number(told[2]) > 0;
}
