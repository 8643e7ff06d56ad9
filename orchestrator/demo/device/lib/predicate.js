'use strict';

/** The parts of NSPredicate and of class chains that this device understands; anything else is refused. */

const {errors} = require('appium/driver');

const FIELDS = {
  name: 'name', label: 'label', value: 'value', type: 'type', enabled: 'enabled', visible: 'visible', accessible: 'accessible',
  selected: 'selected', placeholdervalue: 'placeholderValue', index: 'index', identifier: 'name', elementtype: 'type',
};
const COMPARISONS = {
  '==': (a, b) => a === b, '=': (a, b) => a === b, '!=': (a, b) => a !== b, '<>': (a, b) => a !== b,
  CONTAINS: (a, b) => a.includes(b), BEGINSWITH: (a, b) => a.startsWith(b), ENDSWITH: (a, b) => a.endsWith(b),
  LIKE: (a, b) => new RegExp(`^${b.replace(/[.+^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*').replaceAll('?', '.')}$`, 's').test(a),
  MATCHES: (a, b) => new RegExp(`^(?:${b})$`, 's').test(a),
  '>': (a, b) => Number(a) > Number(b), '<': (a, b) => Number(a) < Number(b), '>=': (a, b) => Number(a) >= Number(b),
  '<=': (a, b) => Number(a) <= Number(b),
};

/** A recursive descent over one predicate; `parse` answers a test of a node. */
class Predicate {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  take(pattern) {
    const sticky = new RegExp(`\\s*(?:${pattern.source})`, 'iy');
    sticky.lastIndex = this.at;
    const match = sticky.exec(this.text);
    if (match) this.at = sticky.lastIndex;
    return match;
  }

  refuse(why) {
    throw new errors.InvalidSelectorError(`Cannot read the predicate '${this.text}' at ${this.at}: ${why}`);
  }

  parse() {
    const test = this.either();
    if (!this.take(/\s*$/)) this.refuse('AND, OR or the end must follow');
    return test;
  }

  either() {
    const tests = [this.both()];
    while (this.take(/OR\b|\|\|/)) tests.push(this.both());
    return (node) => tests.some((test) => test(node));
  }

  both() {
    const tests = [this.single()];
    while (this.take(/AND\b|&&/)) tests.push(this.single());
    return (node) => tests.every((test) => test(node));
  }

  single() {
    if (this.take(/NOT\b|!(?!=)/)) {
      const test = this.single();
      return (node) => !test(node);
    }
    if (this.take(/\(/)) {
      const test = this.either();
      if (!this.take(/\)/)) this.refuse('a parenthesis is missing');
      return test;
    }
    return this.comparison();
  }

  comparison() {
    const field = this.take(/[a-z]+/);
    const attribute = field && FIELDS[field[0].trim().toLowerCase()];
    if (!attribute) this.refuse(`one of ${Object.values(FIELDS).join(', ')} must stand here`);
    const operator = this.take(/(==|!=|<>|<=|>=|=|<|>|CONTAINS\b|BEGINSWITH\b|ENDSWITH\b|LIKE\b|MATCHES\b|IN\b)(\[(c|d|cd)\])?/);
    if (!operator) this.refuse('an operator must stand here');
    const fold = operator[2]?.toLowerCase().includes('c') ? (text) => text.toLowerCase() : (text) => text;
    const word = operator[1].toUpperCase();
    const wanted = word === 'IN' ? this.list() : [this.value()];
    const compare = word === 'IN' ? COMPARISONS['=='] : COMPARISONS[word];
    return (node) => wanted.some((value) => compare(fold(textOf(node, attribute)), fold(value)));
  }

  list() {
    if (!this.take(/\{/)) this.refuse('a list {…} must follow IN');
    const values = [this.value()];
    while (this.take(/,/)) values.push(this.value());
    if (!this.take(/\}/)) this.refuse('a brace is missing');
    return values;
  }

  value() {
    const quoted = this.take(/'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"/);
    if (quoted) return (quoted[1] ?? quoted[2]).replace(/\\(.)/g, '$1');
    const word = this.take(/TRUE\b|FALSE\b|YES\b|NO\b|-?\d+(?:\.\d+)?/);
    if (!word) this.refuse('a value in quotes, a number, TRUE or FALSE must stand here');
    const text = word[0].trim().toUpperCase();
    return {TRUE: '1', YES: '1', FALSE: '0', NO: '0'}[text] ?? text;
  }
}

function textOf(node, attribute) {
  const value = node.attributes[attribute];
  if (value === true) return '1';
  if (value === false) return '0';
  return value === undefined ? '' : String(value);
}

const find = (nodes, text) => {
  const test = new Predicate(text).parse();
  return nodes.filter((node) => node.attributes.type && test(node));
};

/** The steps of a class chain: `{deep, type, filters}`, a filter being a place, a predicate, or a predicate about descendants. */
function steps(chain) {
  const parts = [];
  let rest = chain.trim().replace(/^\//, '');
  const refuse = () => { throw new errors.InvalidSelectorError(`Cannot read the class chain '${chain}' at '${rest}'`); };
  while (rest) {
    const head = /^(\*\*\/)?(\*|XCUIElementType\w+)/.exec(rest) ?? refuse();
    rest = rest.slice(head[0].length);
    const filters = [];
    for (let open = true; open;) {
      const filter = /^\[(?:(-?\d+)|`((?:[^`]|``)*)`|\$((?:[^$]|\$\$)*)\$)\]/.exec(rest);
      open = Boolean(filter);
      if (filter) {
        rest = rest.slice(filter[0].length);
        filters.push({place: filter[1] && Number(filter[1]), own: filter[2], below: filter[3]});
      }
    }
    parts.push({deep: Boolean(head[1]), type: head[2], filters});
    if (rest && !rest.startsWith('/')) refuse();
    rest = rest.slice(1);
  }
  return parts.length ? parts : refuse();
}

function findChain(root, chain) {
  let found = [root];
  for (const {deep, type, filters} of steps(chain)) {
    const near = found.flatMap((node) => (deep ? descendants(node) : node.children));
    let next = [...new Set(near)].filter((node) => type === '*' || node.type === type);
    for (const {place, own, below} of filters) {
      if (own !== undefined) next = find(next, own.replaceAll('``', '`'));
      else if (below !== undefined) next = next.filter((node) => find(descendants(node), below.replaceAll('$$', '$')).length > 0);
      else if (place === 0) throw new errors.InvalidSelectorError(`The class chain '${chain}' counts from 1`);
      else next = next.slice(...(place > 0 ? [place - 1, place] : [place, place + 1 || undefined]));
    }
    found = next;
  }
  return found;
}

const descendants = (node) => node.children.flatMap((child) => [child, ...descendants(child)]);

module.exports = {find, findChain};
