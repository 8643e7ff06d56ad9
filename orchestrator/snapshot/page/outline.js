// Walks the cluster once and tells what it shows, as a flat list of entries that become lines.
const OPTIONS_SHOWN = 20;

/** One line of the outline before it is written: an element, a run of text, or a count of what is left out. */
class Entry {
  constructor(element, role, at, inside) {
    this.element = element;
    this.role = role;
    this.parent = at.entry;
    this.depth = at.depth;
    this.inside = inside;
    this.text = null;
    this.known = undefined;
  }

  get name() {
    this.known ??= this.text ?? nameOf(this.element, this.role);
    return this.known;
  }

  get value() {
    return this.text === null ? valueOf(this.element) : '';
  }

  get shownRole() {
    return this.role === 'clickable' ? 'generic' : this.role;
  }

  get hasRef() {
    return this.text === null;
  }

  states(focused) {
    return this.hasRef ? statesOf(this.element, this.role, focused) : [];
  }
}

/** Where the walk is: the line it is under, what is muted there, and how far the eye reaches. */
class Place {
  constructor(entry, depth, lens, clip) {
    this.entry = entry;
    this.depth = depth;
    this.lens = lens;
    this.clip = clip;
    this.anchorClip = clip;
    this.viewport = clip;
    this.muted = false;
    this.pointer = false;
    this.visible = true;
    this.seen = true;
    this.whole = true;
  }

  /** A copy, for what is inside: written out, because it is made for every element of the page. */
  copy() {
    const place = new Place(this.entry, this.depth, this.lens, this.clip);
    place.anchorClip = this.anchorClip;
    place.viewport = this.viewport;
    place.muted = this.muted;
    return place;
  }
}

class Survey {
  /** With `bounded` each entry knows whether it is inside the viewport; without, boxes are read only where needed. */
  constructor(bounded) {
    this.bounded = bounded;
    this.entries = [];
    this.frames = [];
    this.focused = focusedElements();
    this.run = null;
  }

  start(root) {
    const node = dom.type(root) === DOCUMENT ? dom.html(root) : root;
    if (!node) return this;
    const doc = dom.document(node);
    let clip = through(lensOf(doc), viewportOf(doc));
    for (let around = frameOf(doc); around; around = frameOf(dom.document(around))) {
      clip = intersect(clip, visiblePart(around));
    }
    this.visit(node, new Place(null, 0, lensOf(doc), clip));
    this.flush();
    for (const entry of this.bounded ? this.entries : []) {
      if (entry.inside) for (let up = entry.parent; up && !up.inside; up = up.parent) up.inside = true;
    }
    return this;
  }

  visit(node, at) {
    const type = dom.type(node);
    if (type === TEXT) this.read(node, at);
    else if (type === ELEMENT && !UNREAD.has(dom.tag(node))) this.look(node, at);
  }

  look(element, at) {
    const style = styleOf(element);
    const { display } = style;
    if (display === 'none' || flag(element, 'aria-hidden') || dom.has(element, 'inert')) return;
    const tag = dom.tag(element);
    if (tag === 'br') return void this.space();
    const cut = display !== 'contents' && !isPage(tag) && clips(style);
    const box = cut || this.bounded ? through(at.lens, ownBox(element, style)) : null;
    if (cut && !hasArea(box)) return;
    const apart = display !== 'inline' && display !== 'contents';
    const block = apart && !display.startsWith('inline');
    if (block) this.flush();
    else if (apart) this.space();
    const place = this.reach(style, box, cut, at);
    const role = place.visible ? this.lineRole(element, tag, style, at) : '';
    if (role && this.hasSize(element, style, box, at)) this.list(element, tag, role, place);
    else if (!this.muteCaption(element, tag, place)) this.enter(element, tag, place);
    if (block) this.flush();
    else if (apart) this.space();
  }

  hasSize(element, style, box, { lens }) {
    if (box) return hasArea(box) || spills(element);
    const { width, height } = ownBox(element, style);
    return width * lens.scaleX * height * lens.scaleY > 0 || spills(element);
  }

  /** The place inside an element: what clips there, and whether its text needs a closer look. */
  reach(style, box, cut, at) {
    const place = at.copy();
    place.visible = style.visibility === 'visible' && style.contentVisibility !== 'hidden';
    place.pointer = style.cursor === 'pointer';
    if (!this.bounded) return place;
    const { position } = style;
    if (position === 'fixed') place.clip = at.viewport;
    else if (position === 'absolute') place.clip = at.anchorClip;
    place.seen = hasArea(intersect(place.clip, box));
    place.whole = contains(place.clip, box);
    if (cut) place.clip = intersect(place.clip, box);
    if (position !== 'static') place.anchorClip = place.clip;
    return place;
  }

  lineRole(element, tag, style, at) {
    const role = roleOf(element);
    if (role) {
      if (tag === 'option') return '';
      return at.muted && !INTERACTIVE_ROLES.has(role) ? '' : role;
    }
    if (at.muted || !inHtml(element)) return '';
    if (tag === 'label') return element.control && !isVisible(element.control) ? 'clickable' : '';
    return isClickable(element, style, at.pointer) ? 'clickable' : '';
  }

  /** Walks without text what names another line already: a listed control's label, a group's legend. */
  muteCaption(element, tag, at) {
    const parent = dom.parent(element);
    const isCaption = tag === 'label'
      ? inHtml(element) && element.control !== null
      : parent && dom.type(parent) === ELEMENT && CAPTIONS[dom.tag(parent)] === tag &&
        captionOf(parent, tag) === element && !ariaName(parent);
    if (!isCaption) return false;
    const quiet = at.copy();
    quiet.muted = true;
    for (const child of innerNodes(element)) this.visit(child, quiet);
    return true;
  }

  list(element, tag, role, place) {
    this.flush();
    const entry = new Entry(element, role, place, place.seen);
    this.entries.push(entry);
    const inner = place.copy();
    inner.entry = entry;
    inner.depth += 1;
    inner.muted ||= isContentNamed(element, role) || isEditingHost(element);
    inner.visible = place.visible;
    inner.pointer = place.pointer;
    inner.whole = place.whole;
    this.enter(element, tag, inner);
    this.flush();
  }

  enter(element, tag, place) {
    if (tag === 'select') return this.options(element, place);
    if (tag === 'textarea' || tag === 'svg') return undefined;
    if (isFrame(element)) return this.openFrame(element, place);
    const closed = tag === 'details' && !dom.has(element, 'open');
    for (const child of innerNodes(element)) {
      if (!closed || (dom.type(child) === ELEMENT && dom.tag(child) === 'summary')) this.visit(child, place);
    }
    return undefined;
  }

  options(select, at) {
    const { options } = select;
    if (at.entry?.element !== select) return;
    for (let i = 0; i < options.length && i < OPTIONS_SHOWN; i += 1) {
      this.entries.push(new Entry(options[i], 'option', at, at.entry.inside));
    }
    const more = options.length - OPTIONS_SHOWN;
    if (more > 0) this.note(select, `… ${more} more options`, at, at.entry.inside, 'more');
  }

  openFrame(element, at) {
    const inner = innerDocument(element);
    if (!inner) {
      if (at.entry?.element === element) this.frames.push(at.entry);
      return;
    }
    const lens = lensInto(element, at.lens);
    const root = dom.html(inner);
    if (root) this.visit(root, new Place(at.entry, at.depth, lens, intersect(at.clip, through(lens, viewportOf(inner)))));
    this.flush();
  }

  read(node, at) {
    if (at.muted || !at.visible) return;
    const data = dom.data(node);
    if (!/\S/.test(data)) return void this.space();
    this.run ??= { text: '', inside: false, element: dom.parent(node), at };
    this.run.text += data;
    this.run.inside ||= at.whole || this.textMeets(node, at);
  }

  textMeets(node, at) {
    const range = dom.range(dom.document(node));
    range.selectNodeContents(node);
    return hasArea(intersect(through(at.lens, range.getBoundingClientRect()), at.clip));
  }

  space() {
    if (this.run) this.run.text += ' ';
  }

  flush() {
    const { run } = this;
    this.run = null;
    const text = run ? normal(run.text) : '';
    if (text) this.note(run.element, text, run.at, run.inside, 'text');
  }

  note(element, text, at, inside, role) {
    const entry = new Entry(element, role, at, inside);
    entry.text = text;
    this.entries.push(entry);
  }
}

/** What `root` shows, whole or with an eye on the viewport. */
const survey = (root = window.document, bounded = false) => new Survey(bounded).start(root);
