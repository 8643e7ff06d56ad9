// Walks the cluster once and lists what it shows, as flat entries that become lines.
const OPTIONS_SHOWN = 20;
/** Roles whose line is dropped where it says nothing that the line of the only control inside does not say. */
const WRAPPING_ROLES = wordSet('clickable generic cell gridcell rowheader columnheader heading listitem');
/** Pixels by which a wrapper without a name may be larger than its control. */
const PADDING = 24;
const PLACEHOLDING = wordSet('textbox searchbox combobox spinbutton');

/** A line of the outline before it is written: an element, a run of text, or the number of omitted options. */
class Entry {
  constructor(element, role, at, inside) {
    this.element = element;
    this.role = role;
    this.parent = at.entry;
    this.depth = at.depth;
    this.inside = inside;
    this.text = null;
    this.isNamed = undefined;
    this.known = undefined;
    this.source = '';
    this.isMoved = false;
    /** The number of entries for which this one stands. */
    this.equals = 0;
    /** The level of the heading around a control that is all it holds. */
    this.heading = '';
  }

  get name() {
    if (this.known === undefined) this.learnName();
    return this.known;
  }

  learnName() {
    const { element, role } = this;
    this.isNamed ??= this.text === null && isContentNamed(element, role);
    this.known = this.text ?? accessibleName(element, this.isNamed);
    if (!this.known) ({ name: this.known, source: this.source } = standIn(element, role, this.isNamed));
  }

  get value() {
    return this.text === null ? valueOf(this.element) : '';
  }

  /** The placeholder that an empty field shows, unless it is the name. */
  get placeholder() {
    const text = PLACEHOLDING.has(this.role) && dom.hasAny(this.element) ? placeholderOf(this.element) : '';
    return text && text !== this.name && !this.value ? text : '';
  }

  get shownRole() {
    return this.role === 'clickable' ? 'generic' : this.role;
  }

  get hasRef() {
    return this.text === null;
  }

  states(focused) {
    const states = this.hasRef ? statesOf(this.element, this.role, focused) : [];
    if (this.hasRef && this.placeholder) states.push(`placeholder=${quoted(this.placeholder)}`);
    if (this.source) states.push(`name from ${this.source}`);
    if (this.heading) states.push(`heading ${this.heading}`);
    if (this.equals > 1) states.push(`first of ${this.equals}`);
    return this.isMoved ? [...states, 'moved'] : states;
  }
}

class Survey {
  /**
   * With `bounded` each entry records if it is inside the viewport; otherwise boxes are read only when needed. With
   * `deep` there are also the elements behind a dialog that made them inert, as far as they can be seen. Of a closed
   * select `folded` options are listed.
   */
  constructor(bounded, deep, folded) {
    this.bounded = bounded;
    this.deep = deep;
    this.folded = folded;
    this.entries = [];
    this.frames = [];
    this.focused = focusedElements();
    this.run = null;
    this.ahead = null;
  }

  start(root) {
    const node = dom.type(root) === DOCUMENT ? dom.html(root) : root;
    if (!node) return this;
    const doc = dom.document(node);
    let clip = through(lensOf(doc), viewportOf(doc));
    for (let around = frameOf(doc); around; around = frameOf(dom.document(around))) {
      clip = intersect(clip, visiblePart(around));
    }
    this.visit(node, beginning(null, 0, lensOf(doc), clip));
    this.flush();
    for (const entry of this.bounded ? this.entries : []) {
      if (entry.inside) for (let up = entry.parent; up && !up.inside; up = up.parent) up.inside = true;
    }
    return this;
  }

  visit(node, at) {
    if (isLookOver()) return;
    const type = dom.type(node);
    if (type === TEXT) {
      if (!at.muted) this.read(node, at);
    } else if (type === ELEMENT) {
      const tag = dom.tag(node);
      if (!UNREAD.has(tag)) this.visitElement(node, tag, at);
    }
  }

  visitElement(element, tag, at) {
    if (isWithdrawn(element) && !(this.deep && isBehind(element))) return;
    const isMeasured = this.ahead !== null && this.ahead.element === element;
    const style = isMeasured ? this.ahead.style : styleOf(element);
    const { display } = style;
    if (display === 'none' || isIgnored(element)) return;
    if (tag === 'br') return void this.space();
    const place = new Place(at, style, display);
    const role = this.lineRole(element, tag, place, at);
    const isLine = role !== '' && place.visible;
    if (this.bounded ? !this.reach(element, tag, place, at) : !this.measure(element, tag, place, isLine, isMeasured)) return;
    const apart = display !== 'inline' && display !== 'contents';
    // The words of a diagram are one run: each of them is a block to the browser.
    const block = apart && !display.startsWith('inline') && (tag !== 'text' || inHtml(element));
    if (block) this.flush();
    else if (apart) this.space();
    if (isLine && (place.sized || spills(element) || hasOwnBox(element))) this.list(element, tag, role, place, at);
    else if (!this.muteCaption(element, tag, place)) this.enter(element, tag, place);
    if (block) this.flush();
    else if (apart) this.space();
  }

  /**
   * Sets `sized`, and reads no box without need, since every box costs; false if the element is cut away. A line whose
   * first child has a size counts as sized: reading ahead saves the box of every other generation.
   */
  measure(element, tag, place, isLine, isMeasured) {
    place.sized = isMeasured;
    if (isMeasured) return true;
    const hasSized = isLine && this.peek(element, tag, place);
    if (isLine && !hasSized && this.hasArea(element, place)) {
      place.sized = true;
      return true;
    }
    place.sized = hasSized;
    if (place.display === 'contents' || isPage(tag) || !clips(place.style)) return true;
    return (hasSized || !isLine) && this.hasArea(element, place);
  }

  hasArea(element, { style, lens }) {
    const { width, height } = ownBox(element, style);
    return width * height > 0 && showsArea(lens);
  }

  /** True if the first element inside has a size and can be seen; its style is kept for its own turn. */
  peek(element, tag, { lens }) {
    if (!showsArea(lens) || tag === 'slot' || dom.shadow(element)) return false;
    const child = dom.firstElement(element);
    if (child === null || UNREAD.has(dom.tag(child))) return false;
    const { width, height } = dom.box(child);
    if (!(width > 0 && height > 0)) return false;
    const style = styleOf(child);
    if (style.visibility !== 'visible') return false;
    this.ahead = { element: child, style };
    return true;
  }

  /** Sets the visible area of an element and the clip for its content; false if the element is cut away. */
  reach(element, tag, place, at) {
    const { style, display } = place;
    const box = through(at.lens, ownBox(element, style));
    const cut = display !== 'contents' && !isPage(tag) && clips(style);
    place.sized = hasArea(box);
    if (cut && !place.sized) return false;
    const { position } = style;
    const { clip: around, anchorClip, viewport } = at.eye;
    const clip = position === 'fixed' ? viewport : position === 'absolute' ? anchorClip : around;
    const inner = cut ? intersect(clip, box) : clip;
    place.eye = {
      clip: inner, anchorClip: position === 'static' ? anchorClip : inner, viewport,
      seen: hasArea(intersect(clip, box)), whole: contains(clip, box),
    };
    return true;
  }

  lineRole(element, tag, place, at) {
    const role = roleOf(element);
    if (role) {
      if (tag === 'option') return '';
      return at.muted && !INTERACTIVE_ROLES.has(role) ? '' : role;
    }
    // A hidden toggle has its line also inside a line that is named by its content.
    if (at.muted) return tag === 'label' ? roleOf(toggleBehind(element) ?? element) : '';
    if (tag === 'label' && inHtml(element)) return this.labelRole(element);
    if (isPage(tag)) return '';
    if (takesClicks(element) || (place.pointer && !at.pointer)) return 'clickable';
    const labelled = labelledRole(element);
    return labelled && namesControl(element) ? '' : labelled;
  }

  /** A label has a line if it is the only visible part of its control. */
  labelRole(label) {
    const { control } = label;
    const toggle = toggleBehind(label);
    if (toggle) return roleOf(toggle) || 'clickable';
    return control && !isVisible(seenOf(control)) ? 'clickable' : '';
  }

  /** Walks captions without their text, since it is the name of another line: a control's label, a group's legend. */
  muteCaption(element, tag, place) {
    const parent = dom.parent(element);
    const isCaption = tag === 'label'
      ? inHtml(element) && element.control !== null
      : parent && dom.type(parent) === ELEMENT && CAPTIONS[dom.tag(parent)] === tag &&
        captionOf(parent, tag) === element && !ariaName(parent);
    if (!isCaption) return false;
    place.muted = true;
    for (const child of innerNodes(element)) this.visit(child, place);
    return true;
  }

  list(element, tag, role, place, at) {
    this.flush();
    const subject = (tag === 'label' && toggleBehind(element)) || element;
    const entry = new Entry(subject, role, at, place.sized ? place.eye.seen : at.eye.seen);
    this.entries.push(entry);
    place.entry = entry;
    place.depth += 1;
    if (!place.muted) {
      entry.isNamed = isContentNamed(subject, role);
      place.muted = entry.isNamed || isEditingHost(element);
    }
    this.enter(element, tag, place);
    this.flush();
    if (WRAPPING_ROLES.has(role)) this.dropWrapper(entry);
    if (role === 'link' || role === 'heading') this.dropTwin();
  }

  /** A picture and a title that lead to the same place, one behind the other, have one line. */
  dropTwin() {
    const { entries } = this;
    const [twin, link] = entries.slice(-2);
    if (!link || twin.role !== 'link' || link.role !== 'link' || link.parent === twin) return;
    const isSame = twin.element.href && twin.element.href === link.element.href && twin.name === link.name;
    if (isSame && !twin.states(this.focused).length) entries.splice(-2, 1);
  }

  /** A button of a toolbar, the control that is all of a cell or heading, and the only thing in an item have one line. */
  dropWrapper(wrapper) {
    const { entries } = this;
    let at = entries.length - 1;
    while (entries[at].depth > wrapper.depth + 1) at -= 1;
    const control = entries[at];
    if (control.parent !== wrapper || entries[at - 1] !== wrapper || !saysAll(control, wrapper, this.focused)) return;
    entries.splice(at - 1, 1);
    if (wrapper.role === 'heading') control.heading = levelOf(wrapper.element);
    control.parent = wrapper.parent;
    for (const entry of entries.slice(at - 1)) entry.depth -= 1;
  }

  enter(element, tag, place) {
    if (tag === 'select') return this.options(element, place);
    if (tag === 'canvas') return this.listDrawn(element, place);
    if (tag === 'img') return this.listAreas(element, place);
    if (tag === 'textarea' || tag === 'input' || (tag === 'svg' && !isDiagram(element))) return undefined;
    if ((tag === 'iframe' || tag === 'frame') && isFrame(element)) return this.openFrame(element, place);
    if (tag === 'slot' || dom.shadow(element)) {
      for (const child of innerNodes(element)) this.visit(child, place);
      return undefined;
    }
    // Muted text is not read, and most muted elements contain nothing else.
    if (place.muted && dom.firstElement(element) === null) return undefined;
    const closed = tag === 'details' && !dom.has(element, 'open');
    for (let child = dom.first(element); child; child = dom.next(child)) {
      if (!closed || (dom.type(child) === ELEMENT && dom.tag(child) === 'summary')) this.visit(child, place);
    }
    return undefined;
  }

  /** The controls of a drawing: they have no boxes, and take the focus. */
  listDrawn(canvas, at) {
    for (const part of queryAll(canvas, '*')) {
      const role = roleOf(part);
      if (INTERACTIVE_ROLES.has(role) && isVisible(part)) this.entries.push(new Entry(part, role, at, at.eye.seen));
    }
  }

  /** The links of an image map, which are not rendered where they stand. */
  listAreas(image, at) {
    if (!dom.has(image, 'usemap')) return;
    for (const area of areasOf(image)) {
      const role = roleOf(area);
      if (role && isVisible(area)) this.entries.push(new Entry(area, role, at, !this.bounded || hasArea(visiblePart(area))));
    }
  }

  options(select, at) {
    const { options } = select;
    const listed = isClosed(select) ? this.folded : Math.max(this.folded, OPTIONS_SHOWN);
    if (at.entry?.element !== select || !listed) return;
    let group = null;
    let place = at;
    for (let i = 0; i < options.length && i < listed; i += 1) {
      const around = groupOfOption(options[i]);
      if (around !== group) place = around ? this.listGroup(around, at) : at;
      group = around;
      this.entries.push(new Entry(options[i], 'option', place, at.entry.inside));
    }
    const more = options.length - listed;
    if (more > 0) this.note(select, `… ${more} more options`, at, at.entry.inside, 'more');
  }

  /** Lists a group of options; the place of what is in it. */
  listGroup(group, at) {
    const entry = new Entry(group, 'group', at, at.entry.inside);
    this.entries.push(entry);
    return { entry, depth: at.depth + 1 };
  }

  openFrame(element, at) {
    const inner = innerDocument(element);
    if (!inner) {
      if (at.entry?.element === element) this.frames.push(at.entry);
      return;
    }
    const lens = lensInto(element, at.lens);
    const root = dom.html(inner);
    if (root) this.visit(root, beginning(at.entry, at.depth, lens, intersect(at.eye.clip, through(lens, viewportOf(inner)))));
    this.flush();
  }

  read(node, at) {
    const data = dom.data(node);
    if (!/\S/.test(data)) {
      if (this.run && at.visible) this.space();
      return;
    }
    if (!at.visible) return;
    this.run ??= { text: '', inside: false, element: dom.parent(node), at };
    this.run.text += data;
    this.run.inside ||= at.eye.whole || this.textMeets(node, at);
  }

  textMeets(node, at) {
    const range = dom.range(dom.document(node));
    range.selectNodeContents(node);
    return hasArea(intersect(through(at.lens, range.getBoundingClientRect()), at.eye.clip));
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

const isWithdrawn = (element) => dom.hasAny(element) && (flag(element, 'aria-hidden') || dom.has(element, 'inert'));

/** True for an inert sibling of a dialog or menu that can still be seen. */
function isBehind(element) {
  const parent = dom.parent(element);
  return parent !== null && dom.tag(parent) === 'body' && dom.rendered(element, { opacityProperty: true }) &&
    hasArea(visiblePart(element));
}

/** True if the line of a control has the name and the states of the wrapper around it, so that both are one thing. */
function saysAll(control, wrapper, focused) {
  const isControl = INTERACTIVE_ROLES.has(control.role) || control.role === 'clickable';
  const isOnlyThing = wrapper.role === 'listitem' && control.hasRef;
  if (!isControl && !isOnlyThing) return false;
  if (wrapper.states(focused).some((state) => !/^(clickable$|name from |level=)/.test(state))) return false;
  const name = wrapper.source ? '' : wrapper.name;
  return name ? name === control.name : wrapper.role !== 'clickable' || isFilled(wrapper.element, control.element);
}

function isFilled(wrapper, control) {
  const [around, inside] = [dom.box(wrapper), dom.box(control)];
  return around.width - inside.width <= PADDING && around.height - inside.height <= PADDING;
}

/** Surveys `root`; the rest as for `Survey`. */
const survey = (root = window.document, bounded = false, deep = false, folded = 0) =>
  new Survey(bounded, deep, folded).start(root);
