// The shop: a catalogue, a cart, a form, a confirmation. The same code is the web page and both apps.
'use strict';

const PRODUCTS = [
  { id: 'mug', name: 'Mug', about: 'Stoneware, 350 ml', cents: 1850, glyph: 'M6 10h24v16a8 8 0 0 1-8 8h-8a8 8 0 0 1-8-8zM30 13h4a5 5 0 0 1 0 11h-4' },
  { id: 'teapot', name: 'Teapot', about: 'Pours without a drop', cents: 5400, glyph: 'M9 17h22v9a9 9 0 0 1-9 9h-4a9 9 0 0 1-9-9zM12 17a8 6 0 0 1 16 0M20 9v2M9 29C4 27 5 20 1 18M31 20h4a4 4 0 0 1 0 9h-4' },
  { id: 'bowl', name: 'Bowl', about: 'Ash glaze, 18 cm', cents: 2275, glyph: 'M3 16h34a17 15 0 0 1-11 15v3H14v-3A17 15 0 0 1 3 16zM9 22h22' },
  { id: 'planter', name: 'Planter', about: 'With a fern in it', cents: 3125, glyph: 'M10 24h20l-3 13H13zM20 24V9M20 18c-8 1-11-4-11-9 7 0 11 3 11 9zM20 14c1-6 5-8 10-8 0 6-4 9-10 8z' },
];
const SHIPPING = 490;
const EXPRESS = 1190;
const FREE_FROM = 10000;

const { platform = 'web', broken = false } = window.SHOP ?? {};
document.documentElement.dataset.platform = platform;

const find = (id) => document.getElementById(id);
const cart = new Map();
let express = false;

const money = (cents) => `€${(cents / 100).toFixed(2)}`;
const count = () => [...cart.values()].reduce((sum, n) => sum + n, 0);
const subtotal = () => PRODUCTS.reduce((sum, { id, cents }) => sum + cents * (cart.get(id) ?? 0), 0);

function shipping() {
  if (!count()) return 0;
  if (express) return EXPRESS;
  // The difference that `--break` plants: this build has forgotten that larger orders are sent free of charge.
  return subtotal() >= FREE_FROM && !broken ? 0 : SHIPPING;
}

const total = () => subtotal() + shipping();

function element(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** A product's picture, in lines. */
function drawing(path) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 40 40');
  svg.setAttribute('aria-hidden', 'true');
  const line = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  line.setAttribute('d', path);
  svg.append(line);
  return svg;
}

/** One screen at a time, each under its own title. */
const TITLES = { catalogue: 'Kiln & Fern', cart: 'Cart', details: 'Details', confirmation: 'Order placed' };
function show(screen) {
  for (const id of Object.keys(TITLES)) find(id).hidden = id !== screen;
  find('title').textContent = TITLES[screen];
  document.title = TITLES[screen];
  find('cartButton').hidden = screen !== 'catalogue';
  draw();
  document.querySelector('main').scrollTop = 0;
}

function draw() {
  const n = count();
  find('cartButton').textContent = `Cart (${n})`;
  find('lines').replaceChildren(...linesOf(true));
  find('sums').replaceChildren(...sums());
  find('checkOut').disabled = !n;
  find('due').textContent = money(total());
}

function linesOf(editable) {
  const chosen = PRODUCTS.filter(({ id }) => cart.get(id));
  if (!chosen.length) return [element('li', { className: 'empty' }, 'Your cart is empty.')];
  return chosen.map(({ id, name, cents, glyph }) => {
    const n = cart.get(id);
    const line = element('li', {}, drawing(glyph),
      element('span', { className: 'what' }, `${n} × ${name}`), element('span', { className: 'price' }, money(cents * n)));
    if (editable) {
      const remove = element('button', { type: 'button', className: 'quiet', ariaLabel: `Remove ${name}` }, '–');
      remove.addEventListener('click', () => { cart.set(id, n - 1); draw(); });
      line.append(remove);
    }
    return line;
  });
}

function sums() {
  const way = express ? 'Express delivery' : 'Delivery';
  const rows = [['Items', money(subtotal())], [way, shipping() ? money(shipping()) : 'Free'], ['Total', money(total())]];
  return rows.map(([label, amount]) => element('div', {}, element('dt', {}, label), element('dd', {}, amount)));
}

function addProducts() {
  find('products').append(...PRODUCTS.map(({ id, name, about, cents, glyph }) => {
    const add = element('button', { type: 'button', id: `add-${id}`, ariaLabel: `Add ${name}` }, 'Add');
    add.addEventListener('click', () => { cart.set(id, (cart.get(id) ?? 0) + 1); draw(); });
    return element('li', {}, drawing(glyph),
      element('span', { className: 'what' }, element('b', {}, name), element('small', {}, about)),
      element('span', { className: 'price' }, money(cents)), add);
  }));
}

const FIELDS = { fullName: 'your full name', email: 'an email address', street: 'street and number', city: 'a city' };

/** What is missing in the form, in words; empty where nothing is. */
function missing() {
  for (const [id, what] of Object.entries(FIELDS)) {
    const value = find(id).value.trim();
    if (!value || (id === 'email' && !/^\S+@\S+\.\S+$/.test(value))) return `Please give ${what}.`;
  }
  return '';
}

function pay(event) {
  event.preventDefault();
  const problem = missing();
  find('problem').textContent = problem;
  find('problem').hidden = !problem;
  if (problem) return;
  document.activeElement?.blur();
  find('thanks').textContent = `Thank you, ${find('fullName').value.trim()}!`;
  find('sentTo').textContent = `A receipt is on its way to ${find('email').value.trim()}.`;
  find('bought').replaceChildren(...linesOf(false));
  find('paid').replaceChildren(...sums());
  show('confirmation');
}

function startAnew() {
  cart.clear();
  express = false;
  find('form').reset();
  find('problem').hidden = true;
  show('catalogue');
}

addProducts();
find('cartButton').addEventListener('click', () => show('cart'));
find('continueShopping').addEventListener('click', () => show('catalogue'));
find('checkOut').addEventListener('click', () => show('details'));
find('express').addEventListener('change', ({ target }) => { express = target.checked; draw(); });
find('form').addEventListener('submit', pay);
find('newOrder').addEventListener('click', startAnew);
show('catalogue');
