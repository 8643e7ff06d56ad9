'use strict';

/** Source trees `{type, attributes, children, target}` and the XML they are written as. `target` says what a node is in a page. */

const ESCAPES = {'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\n': '&#10;', '\r': '&#13;', '\t': '&#9;'};

// Characters that XML 1.0 has no way to write are left out.
const escaped = (text) => String(text)
  // eslint-disable-next-line no-control-regex
  .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
  .replace(/[&<>"\n\r\t]/g, (character) => ESCAPES[character]);

function written(node, indent = '') {
  const attributes = Object.entries(node.attributes)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => ` ${name}="${escaped(value)}"`)
    .join('');
  if (!node.children.length) return `${indent}<${node.type}${attributes}/>\n`;
  const inner = node.children.map((child) => written(child, `${indent}  `)).join('');
  return `${indent}<${node.type}${attributes}>\n${inner}${indent}</${node.type}>\n`;
}

/** The whole document. */
function document(root) {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${written(root)}`;
}

/** All nodes in document order. */
function flat(node, into = []) {
  into.push(node);
  for (const child of node.children) flat(child, into);
  return into;
}

module.exports = {document, flat};
