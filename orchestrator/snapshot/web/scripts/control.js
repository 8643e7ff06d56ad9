// Controls that are no text fields: the values that they can hold, and the way to set them.
const YES = /^(true|on|checked|yes)$/i;
const NOT = /^(false|off|unchecked|no)$/i;
const FORMATS = {
  date: 'YYYY-MM-DD', time: 'HH:MM or HH:MM:SS', 'datetime-local': 'YYYY-MM-DDTHH:MM', month: 'YYYY-MM',
  week: 'YYYY-Www', color: '#rrggbb', range: 'a number', slider: 'a number',
};
const MOST_KEYS = 120;
/** Digits of a year after which the browser goes on to the next part of a date. */
const DIGITS_OF_A_YEAR = inFirefox ? 4 : 6;

const expecting = (element, format) => no('bad_value', `${lineFor(element)} takes ${format}`);

/** The value as an input like this one holds it; '' if it cannot. */
function heldBy(element, value) {
  const twin = dom.clone(element, false);
  dom.setValue(twin, value);
  // An invalid colour becomes black.
  const isBlack = twin.type === 'color' && /^#0{6}$/.test(twin.value);
  return isBlack && !/^#0{6}$/.test(value) ? '' : twin.value;
}

// Checkboxes and radios, the platform's own and those of ARIA

/** The other radios of its group and itself, in tree order. */
function groupOf(radio) {
  if (isToggle(radio)) {
    const peers = [...queryAll(dom.root(radio), 'input[type=radio]')];
    return radio.name ? peers.filter((each) => each.name === radio.name && each.form === radio.form) : [radio];
  }
  const group = dom.closest(radio, '[role=radiogroup],[role=menu],[role=group]') ?? dom.parent(radio);
  return [...queryAll(group, '[role=radio],[role=menuitemradio]')];
}

const radioValue = (radio) => attribute(radio, 'value') ?? attribute(radio, 'data-value');

/** The radio of the group with this value, else with this label, else the given one. */
function radioFor(radio, value) {
  const group = groupOf(radio);
  return group.find((each) => radioValue(each) === value)
    ?? group.find((each) => nameOf(each, roleOf(each)) === normal(value)) ?? radio;
}

/** Finds the point that toggles it. */
function refuseCheck(element, request, kind) {
  const isRadio = kind === 'radio';
  const names = () => groupOf(element).map((each) => quoted(nameOf(each, roleOf(each)))).join(', ');
  const isMeant = isRadio && (radioValue(element) === request.value || nameOf(element, roleOf(element)) === normal(request.value));
  if (!isMeant && NOT.test(request.value) && isRadio) {
    return no('bad_value', `${lineFor(element)} is a radio, which only another one of its group unchecks: ${names()}`);
  }
  if (!isMeant && !YES.test(request.value) && !NOT.test(request.value)) {
    return expecting(element, isRadio ? `true, or the value or label of one of its group: ${names()}` : 'true or false');
  }
  const wanted = isMeant || YES.test(request.value);
  acting.wanted = wanted;
  request.found.already = checkedOf(element) === wanted;
  request.found.mixed = checkedOf(element) === 'mixed';
  return refusePoint(element, request);
}

// Dates, times and colours

const TIMES = { date: '%T00:00Z', time: '2000-01-01T%Z', 'datetime-local': '%Z', month: '%-01T00:00Z' };
const ENGLISH_DIGITS = { calendar: 'gregory', numberingSystem: 'latn', timeZone: 'UTC' };

/** Finds the keys that type the value, in the order of the browser's language. */
function refuseDate(element, request) {
  const { type } = element;
  const wanted = heldBy(element, request.value);
  if (!wanted && (request.value || type === 'color')) return expecting(element, FORMATS[type]);
  request.found.held = wanted;
  request.found.already = element.value === wanted;
  if (type === 'color') return null;
  for (const focused of focusedElements()) if (focused === element) dom.blur(element);
  request.found.keys = wanted ? keysOfDate(element, wanted) : Array(8).fill(['Delete', 'ArrowRight']).flat();
  return refuseFocus(element);
}

function keysOfDate(element, wanted) {
  const { type } = element;
  if (type === 'week') return wanted.replace(/^(\d+)-W(\d+)$/, '$2$1').split('');
  const moment = new Date(TIMES[type].replace('%', wanted));
  if (Number.isNaN(+moment)) return null;
  const parts = new Intl.DateTimeFormat(undefined, { ...ENGLISH_DIGITS, ...fieldsOf(element, wanted) })
    .formatToParts(moment).filter((part) => part.type !== 'literal');
  const yearDigits = /^\d{4,}/.exec(element.max)?.[0].length ?? DIGITS_OF_A_YEAR;
  const keys = [];
  parts.forEach((part, place) => {
    const text = part.type === 'month' && type === 'month' ? wanted.slice(-2) : part.value;
    keys.push(...(part.type === 'dayPeriod' ? text[0] : text));
    const goesOn = part.type === 'year' ? text.length >= yearDigits : part.type !== 'month' || type !== 'month';
    if (!goesOn && place < parts.length - 1) keys.push('ArrowRight');
  });
  return keys;
}

/** The fields that the control shows, as options of Intl.DateTimeFormat. */
function fieldsOf(element, wanted) {
  const { type, value, step } = element;
  if (type === 'month') return { year: 'numeric', month: 'long' };
  const day = type === 'time' ? {} : { year: 'numeric', month: '2-digit', day: '2-digit' };
  if (type === 'date') return day;
  const isFine = (unit) => step === 'any' || Number(step) % unit > 0;
  const time = { hour: '2-digit', minute: '2-digit' };
  if (isFine(60) || /:\d\d:\d\d/.test(`${value} ${wanted}`)) time.second = '2-digit';
  if (isFine(1)) time.fractionalSecondDigits = 3;
  return { ...day, ...time };
}

// Sliders

/** Finds the keys that set a range to the nearest possible value; null if they would be too many. */
function refuseRange(element, request) {
  const wanted = Number(request.value);
  if (!request.value.trim() || !Number.isFinite(wanted)) return expecting(element, FORMATS.range);
  const aim = Number(heldBy(element, request.value));
  request.found.held = `${aim}`;
  request.found.already = Number(element.value) === aim;
  request.found.keys = keysOfRange(element, aim);
  return refuseFocus(element);
}

function keysOfRange(element, aim) {
  const clamp = (value) => Number(heldBy(element, `${value}`));
  const [least, most] = [clamp(-Number.MAX_VALUE), clamp(Number.MAX_VALUE)];
  const step = element.step === 'any' ? (most - least) / 100 : Number(element.step) > 0 ? Number(element.step) : 1;
  const page = Math.max((most - least) / 10, step);
  const ways = [[least, ['Home']], [most, ['End']], [Number(element.value), []]]
    .map(([start, keys]) => keysBetween(start, aim, { keys, step, page, clamp })).filter(Boolean);
  return ways.sort((a, b) => a.length - b.length)[0] ?? null;
}

function keysBetween(start, aim, { keys, step, page, clamp }) {
  const sign = Math.sign(aim - start);
  const found = [...keys];
  const near = step / 1000;
  const walk = (by, key, from) => {
    let at = from;
    for (let next = clamp(at + sign * by); sign * (aim - next) >= -near && next !== at; next = clamp(at + sign * by)) {
      if (found.push(key) > MOST_KEYS) return NaN;
      at = next;
    }
    return at;
  };
  const reached = walk(step, sign > 0 ? 'ArrowUp' : 'ArrowDown', walk(page, sign > 0 ? 'PageUp' : 'PageDown', start));
  return Math.abs(reached - aim) <= near ? found : null;
}

const numberOf = (element, name, otherwise) => Number(attribute(element, name) ?? otherwise);

/** Finds the position of a slider or spin button of ARIA, and the position that it should get. */
function refuseSlider(element, request) {
  const wanted = Number(request.value);
  if (!request.value.trim() || !Number.isFinite(wanted)) return expecting(element, FORMATS.slider);
  const isSpin = roleOf(element) === 'spinbutton';
  const least = numberOf(element, 'aria-valuemin', isSpin ? -Infinity : 0);
  const most = numberOf(element, 'aria-valuemax', isSpin ? Infinity : 100);
  request.found.aim = Math.min(Math.max(wanted, least), most);
  request.found.now = numberOf(element, 'aria-valuenow', isSpin ? 0 : least);
  request.found.vertical = isSpin || attribute(element, 'aria-orientation') === 'vertical';
  request.found.already = request.found.now === request.found.aim;
  return refuseFocus(element);
}

/** True for a slider of either sort at `wanted`, by its number or its text. */
const isAt = (element, wanted) =>
  rawValue(element) === wanted || Number(attribute(element, 'aria-valuenow') ?? element.value) === Number(wanted);

/** slider(): the position of the slider acted on. */
const slider = () => ({ now: isLive(acting.element) ? numberOf(acting.element, 'aria-valuenow', NaN) : null });

/** assign({value}): sets the control acted on by script and sends the page its events, for values that no key reaches. */
function assign({ value }) {
  const { element } = acting;
  if (!isLive(element)) return {};
  dom.setValue(element, value);
  for (const type of ['input', 'change']) dispatch(element, new Event(type, { bubbles: true, composed: true }));
  return {};
}
