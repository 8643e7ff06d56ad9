// Knows what the walk of an outline carries along: where it is, and what of that can be seen.

/** Where the walk is: the line it is under, what is muted there, and how far the eye reaches. */
class Place {
  /** Inside an element with this style; what of it costs is asked only where somebody wants to know. */
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

  /** True when what stands directly in the element can be seen. */
  get visible() {
    const { style, display } = this;
    this.shows ??= style === null || (style.visibility === 'visible' && !hidesContent(style, display));
    return this.shows;
  }

  /** True when the mouse shows there that one may click. */
  get pointer() {
    this.points ??= this.style !== null && this.style.cursor === 'pointer';
    return this.points;
  }
}

/** Where a walk begins, at the top of a document. */
function beginning(entry, depth, lens, clip) {
  const eye = { clip, anchorClip: clip, viewport: clip, seen: true, whole: true };
  return new Place({ entry, depth, lens, eye, muted: false }, null, '');
}

/** `content-visibility` means nothing to what cannot contain its size: text runs and the parts of tables. */
const UNCONTAINED = wordSet(`
  inline contents table inline-table table-row table-cell table-row-group table-header-group table-footer-group
  table-column table-column-group`);
const hidesContent = (style, display) => !UNCONTAINED.has(display) && style.contentVisibility === 'hidden';
