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
    this.whole = true;
  }

  inner(changes) {
    return Object.assign(Object.create(Place.prototype), this, changes);
  }
}

class Survey {
  constructor() {
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
    for (const entry of this.entries) {
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
    if (style.display === 'none' || flag(element, 'aria-hidden') || dom.has(element, 'inert')) return;
    const tag = dom.tag(element);
    if (tag === 'br') return void this.space();
    const box = style.display === 'contents' ? null : through(at.lens, dom.box(element));
    const cut = box !== null && !isPage(tag) && clips(style);
    if (cut && !hasArea(box)) return;
    const apart = style.display !== 'inline' && style.display !== 'contents';
    if (apart && !style.display.startsWith('inline')) this.flush();
    else if (apart) this.space();
    const place = this.reach(style, box, cut, at);
    const role = place.visible ? this.lineRole(element, tag, style, at) : '';
    if (role && (!box || hasArea(box) || spills(element))) this.list(element, tag, role, box, place);
    else if (!this.muteCaption(element, tag, place)) this.enter(element, tag, place);
    if (apart && !style.display.startsWith('inline')) this.flush();
    else if (apart) this.space();
  }

  /** The place inside an element: what clips there, and whether its text needs a closer look. */
  reach(style, box, cut, at) {
    const place = at.inner({ visible: style.visibility === 'visible', pointer: style.cursor === 'pointer' });
    if (style.contentVisibility === 'hidden') place.visible = false;
    if (!box) {
      place.whole = false;
      return place;
    }
    if (style.position === 'fixed') place.clip = at.viewport;
    else if (style.position === 'absolute') place.clip = at.anchorClip;
    place.seen = hasArea(intersect(place.clip, box));
    place.whole = contains(place.clip, box);
    if (cut) place.clip = intersect(place.clip, box);
    if (style.position !== 'static' || style.transform !== 'none') place.anchorClip = place.clip;
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
    const quiet = at.inner({ muted: true });
    for (const child of innerNodes(element)) this.visit(child, quiet);
    return true;
  }

  list(element, tag, role, box, place) {
    this.flush();
    const seen = box ? place.seen : hasArea(intersect(through(place.lens, ownBox(element)), place.clip));
    const entry = new Entry(element, role, place, seen);
    this.entries.push(entry);
    const muted = place.muted || isContentNamed(element, role) || isEditingHost(element);
    this.enter(element, tag, place.inner({ entry, depth: place.depth + 1, muted }));
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

const survey = (root = window.document) => new Survey().start(root);
