// Waits inside the page: until something changes, an animation frame passes, or the slice is over.
const FRAME_LIMIT = { visible: 500, hidden: 50 };
const LONGEST_PAUSE = 100;

/**
 * The next animation frame; true if it was drawn. If none is drawn, a timer ends the wait: soon in a background tab,
 * late in a visible one, where a busy machine draws nothing for a while and moving elements seem at rest.
 */
const frame = () =>
  new Promise((resolve) => {
    const timer = setTimer(resolve, FRAME_LIMIT[document.visibilityState] ?? FRAME_LIMIT.hidden, false);
    nextFrame(() => {
      clearTimer(timer);
      resolve(true);
    });
  });

const pause = (ms) => new Promise((resolve) => { setTimer(resolve, ms); });

const EVERY_CHANGE = { subtree: true, childList: true, attributes: true, characterData: true };

/** Resolves at the next change of a document of the cluster, or after `limit` ms. */
function change(limit) {
  return new Promise((resolve) => {
    const observer = new MutationObserver(finish);
    const timer = setTimer(finish, limit);
    function finish() {
      observer.disconnect();
      clearTimer(timer);
      resolve();
    }
    for (const doc of allDocuments()) observer.observe(doc, EVERY_CHANGE);
  });
}

/** Attempts until the answer is `done` or `slice` ms are over; resolves to the last answer. */
async function retry(slice, attempt, done) {
  const end = now() + (slice ?? 0);
  for (let interval = 10; ; interval = Math.min(interval * 2, LONGEST_PAUSE)) {
    beginLook();
    const began = now();
    const answer = await attempt();
    if (done(answer) || now() >= end) return answer;
    // A page that changes all the time must not be searched all the time: pause as long as the attempt took.
    const rest = Math.max(4, Math.min(now() - began, LONGEST_PAUSE));
    await change(Math.min(interval, end - now()));
    await pause(Math.max(0, Math.min(rest, end - now())));
  }
}
