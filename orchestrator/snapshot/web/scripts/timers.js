// Runs in the page's own world: tells the engine, when it asks, for how long a timer of the page is still pending.

/** Ms after which a timer says nothing about what is about to happen, such as that which ends an idle session. */
const LONGEST_AWAITED = 10_000;
/** Ms for which a document that was there before us may have begun timers that nobody counted. */
const UNCOUNTED = 5000;

/** Counts the timers that a window begins; `replace` puts a proxy in the place of a function. */
function countTimers(view, replace, report) {
  const { EventTarget, Set, performance } = view;
  const { apply, getOwnPropertyDescriptor } = view.Reflect;
  const { max } = view.Math;
  const uncurry = view.Function.prototype.bind.bind(view.Function.prototype.call);
  const listen = uncurry(EventTarget.prototype.addEventListener);
  const [add, remove] = [uncurry(Set.prototype.add), uncurry(Set.prototype.delete)];
  const sizeOf = uncurry(getOwnPropertyDescriptor(Set.prototype, 'size').get);
  const now = performance.now.bind(performance);
  const repeating = new Set();
  let due = view.document.readyState === 'loading' ? 0 : now() + UNCOUNTED;

  const calling = (name, note) => replace(view, name, {
    apply: (target, self, args) => {
      const answer = apply(target, self, args);
      note(answer, args[1]);
      return answer;
    },
  });
  calling('setTimeout', (_, delay) => {
    const ms = typeof delay === 'number' ? delay : 0;
    if (ms <= LONGEST_AWAITED) due = max(due, now() + ms);
  });
  calling('setInterval', (number) => add(repeating, number));
  for (const name of ['clearInterval', 'clearTimeout']) {
    replace(view, name, {
      apply: (target, self, args) => {
        remove(repeating, args[0]);
        return apply(target, self, args);
      },
    });
  }
  listen(view, `${CHANNEL}:timers`, () => report(`timers ${sizeOf(repeating)} ${max(0, due - now()) | 0}`));
}
