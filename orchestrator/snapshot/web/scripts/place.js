// The state of the walk that makes an outline: its position, and how much of that can be seen.

/** A position of the walk: the line above it, whether its text is muted, and the visible area. */
class Place {
  /** Inside an element with this style; expensive properties are read only when they are needed. */
  constructor(at, style, display) {
    this.entry = at.entry;
    this.depth = at.depth;
    this.lens = at.lens;
    this.eye = at.eye;
    this.muted = at.muted;
    this.style = style;
    this.display = display;
    this.sized = false;
    this.shows = undefined;
    this.points = undefined;
  }

  /** True if direct content of the element can be seen. */
  get visible() {
    const { style, display } = this;
    this.shows ??= style === null || (style.visibility === 'visible' && !hidesContent(style, display));
    return this.shows;
  }

  /** True if the mouse pointer there is the one for clicking. */
  get pointer() {
    this.points ??= this.style !== null && this.style.cursor === 'pointer';
    return this.points;
  }
}

/** The first position of a walk, at the top of a document. */
function beginning(entry, depth, lens, clip) {
  const eye = { clip, anchorClip: clip, viewport: clip, seen: true, whole: true };
  return new Place({ entry, depth, lens, eye, muted: false }, null, '');
}

/** `content-visibility` has no effect on boxes without size containment: inline ones and parts of tables. */
const UNCONTAINED = wordSet(`
  inline contents table inline-table table-row table-cell table-row-group table-header-group table-footer-group
  table-column table-column-group`);
const hidesContent = (style, display) => !UNCONTAINED.has(display) && style.contentVisibility === 'hidden';
