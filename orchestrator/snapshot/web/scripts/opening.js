// Tells when something has opened after the pointer came or the focus moved: menus and tooltips often come late.

/** By what it may open; true if that happened since the mark. */
const OPENERS = {
  pointer: () => true,
  focus: (mark) => [...focusedElements()].some((element) => !mark.focused.has(element)),
  field: (mark) => OPENERS.focus(mark) && [...focusedElements()].some(isField),
};

const isField = (element) => dom.tag(element) !== 'select' && PLACEHOLDING.has(roleOf(element));

/** What is awaited of `late` ({name, by, within}) in this call: nothing if its mark saw no pointer or focus come. */
class Opening {
  constructor({ name, by, within }) {
    this.mark = markOf(name);
    this.end = OPENERS[by](this.mark) ? now() + within : -Infinity;
    this.seen = '';
  }

  /** True until a line came or went, or the time is up. Changes inside lines do not count: clocks change all the time. */
  isAwaited() {
    if (now() >= this.end) return false;
    const stand = `${watch.changed} ${watch.moved}`;
    if (stand === this.seen) return true;
    this.seen = stand;
    const { appeared, disappeared } = differencesSince(this.mark, surveyAll());
    if (appeared.length || disappeared.length) this.end = -Infinity;
    return now() < this.end;
  }
}
