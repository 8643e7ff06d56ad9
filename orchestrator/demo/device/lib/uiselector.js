'use strict';

/** The part of Android's UiSelector that this device understands; anything else is refused by name. */

const {errors} = require('appium/driver');

const simple = (attribute, test) => (node, wanted) => test(String(node.attributes[attribute] ?? ''), wanted);
const equals = (value, wanted) => value === wanted;
const contains = (value, wanted) => value.includes(wanted);
const startsWith = (value, wanted) => value.startsWith(wanted);
const matches = (value, wanted) => new RegExp(`^(?:${wanted})$`, 's').test(value);
const flag = (attribute) => simple(attribute, (value, wanted) => value === String(wanted));

const TESTS = {
  text: simple('text', equals), textContains: simple('text', contains), textStartsWith: simple('text', startsWith),
  textMatches: simple('text', matches), description: simple('content-desc', equals), descriptionContains: simple('content-desc', contains),
  descriptionStartsWith: simple('content-desc', startsWith), descriptionMatches: simple('content-desc', matches),
  resourceId: simple('resource-id', equals), resourceIdMatches: simple('resource-id', matches), className: simple('class', equals),
  classNameMatches: simple('class', matches), packageName: simple('package', equals), packageNameMatches: simple('package', matches),
  checkable: flag('checkable'), checked: flag('checked'), clickable: flag('clickable'), enabled: flag('enabled'),
  focusable: flag('focusable'), focused: flag('focused'), longClickable: flag('long-clickable'), scrollable: flag('scrollable'),
  selected: flag('selected'), index: simple('index', (value, wanted) => value === String(wanted)),
};
const INNER = new Set(['childSelector', 'fromParent']);

/** Read one expression into steps `{name, value}`. */
class Reader {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  take(pattern) {
    const found = new RegExp(`\\s*(?:${pattern.source})`, 'y');
    found.lastIndex = this.at;
    const match = found.exec(this.text);
    if (match) this.at = found.lastIndex;
    return match;
  }

  refuse(why) {
    throw new errors.InvalidSelectorError(`Cannot read the UiSelector '${this.text}' at ${this.at}: ${why}`);
  }

  selector() {
    if (this.take(/new\s+UiScrollable/)) this.refuse('UiScrollable is not simulated');
    if (!this.take(/new\s+UiSelector\s*\(\s*\)/)) this.refuse('it must begin with new UiSelector()');
    const steps = [];
    for (let call = this.take(/\.\s*(\w+)\s*\(/); call; call = this.take(/\.\s*(\w+)\s*\(/)) {
      const [, name] = call;
      if (!TESTS[name] && !INNER.has(name) && name !== 'instance') this.refuse(`${name} is not simulated`);
      steps.push({name, value: INNER.has(name) ? this.selector() : this.value()});
      if (!this.take(/\)/)) this.refuse('a parenthesis is missing');
    }
    return steps;
  }

  value() {
    const text = this.take(/"((?:[^"\\]|\\.)*)"/);
    if (text) return JSON.parse(`"${text[1]}"`);
    const word = this.take(/true|false|-?\d+/);
    if (!word) this.refuse('a text in double quotes, true, false or a number must stand here');
    return JSON.parse(word[0].trim());
  }
}

function selected(nodes, parents, steps) {
  const tests = steps.filter(({name}) => TESTS[name]);
  let found = nodes.filter((node) => tests.every(({name, value}) => TESTS[name](node, value)));
  const instance = steps.find(({name}) => name === 'instance');
  const inner = steps.find(({name}) => INNER.has(name));
  if (inner) {
    const outer = instance ? found.slice(instance.value, instance.value + 1) : found;
    const roots = new Set(inner.name === 'fromParent' ? outer.map((node) => parents.get(node)) : outer);
    const below = nodes.filter((node) => roots.has(ancestorIn(node, parents, roots)));
    return selected(below, parents, inner.value);
  }
  if (instance) found = found.slice(instance.value, instance.value + 1);
  return found;
}

function ancestorIn(node, parents, roots) {
  for (let up = parents.get(node); up; up = parents.get(up)) if (roots.has(up)) return up;
  return undefined;
}

/** The nodes, in document order, that an expression selects. */
function find(nodes, expression) {
  const reader = new Reader(expression);
  const steps = reader.selector();
  if (!reader.take(/;?\s*$/)) reader.refuse('nothing may follow');
  const parents = new Map(nodes.flatMap((node) => node.children.map((child) => [child, node])));
  return selected(nodes, parents, steps);
}

module.exports = {find};
