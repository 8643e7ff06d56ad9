// Writes JSON, with nothing that the page can change afterwards.
const { encode, quoteJson, wellFormed } = (() => {
  const { stringify } = JSON;
  const { isArray } = Array;
  const { isFinite } = Number;
  const { keys } = Object;

  /** The text without lone surrogates, which drivers cannot transport. */
  const wellFormed = 'toWellFormed' in String.prototype
    ? Function.prototype.bind.bind(Function.prototype.call)(String.prototype.toWellFormed) : (text) => text;

  const quoteJson = (text) => stringify(wellFormed(text));

  /** JSON without the platform's `stringify`, which obeys the toJSON that old libraries give to arrays. */
  function encode(value) {
    if (value === null || value === undefined) return 'null';
    if (typeof value === 'number') return isFinite(value) ? `${value}` : 'null';
    if (typeof value === 'boolean') return `${value}`;
    if (typeof value === 'string') return quoteJson(value);
    if (isArray(value)) {
      let items = '';
      for (let i = 0; i < value.length; i += 1) items += (i ? ',' : '') + encode(value[i]);
      return `[${items}]`;
    }
    let members = '';
    for (const key of keys(value)) {
      if (value[key] !== undefined) members += `${members ? ',' : ''}${quoteJson(key)}:${encode(value[key])}`;
    }
    return `{${members}}`;
  }

  return { encode, quoteJson, wellFormed };
})();
