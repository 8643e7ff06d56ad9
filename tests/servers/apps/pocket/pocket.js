'use strict';

const by = (id) => document.getElementById(id);
const test = (id) => document.querySelector(`[data-testid="${id}"]`);
const say = (id, text) => { by(id).textContent = text; };

function open(name) {
  for (const section of document.querySelectorAll('section')) section.hidden = section.id !== name;
  if (name === 'motion') move();
}

by('log-in').addEventListener('click', () => {
  console.log(`signing in as ${by('email').value} with ${by('password').value}`);
  if (by('email').value === 'nobody') throw new Error('no such account');
  if (by('password').value !== 'correct horse') {
    say('error', 'Wrong email or password');
    return;
  }
  say('welcome', `Welcome ${by('email').value}`);
  open('home');
});
for (const button of document.querySelectorAll('[data-open]')) button.addEventListener('click', () => open(button.dataset.open));
for (const button of document.querySelectorAll('[data-back]')) button.addEventListener('click', () => open('home'));
addEventListener('backbutton', (event) => {
  if (!by('login').hidden || !by('home').hidden) return;
  event.preventDefault();
  open('home');
});

// A long list
let basket = 0;
by('rows').append(...Array.from({length: 60}, (_, index) => {
  const row = document.createElement('li');
  row.innerHTML = `<span>Thing ${index + 1}</span><button aria-label="Add thing ${index + 1}">Add</button>`;
  row.querySelector('button').addEventListener('click', () => {
    basket += 1;
    say('basket', `Basket: ${basket}, last thing ${index + 1}`);
  });
  return row;
}));

// Controls
by('volume').addEventListener('input', () => say('volume-text', `Volume ${by('volume').value}`));

// Alerts
test('alertButton').addEventListener('click', () => {
  alert('The kettle boils');
  say('answer', 'Seen');
});
test('confirmButton').addEventListener('click', () => say('answer', confirm('Delete everything?') ? 'Deleted' : 'Kept'));
test('promptButton').addEventListener('click', () => say('answer', `Name: ${prompt('Your name?', 'Ada')}`));
test('locationButton').addEventListener('click', () => navigator.geolocation.getCurrentPosition(
  ({coords}) => say('answer', `At ${coords.latitude.toFixed(2)}, ${coords.longitude.toFixed(2)}`),
  (error) => say('answer', `No place: ${error.code}`),
));

// Gestures
const counts = {taps: 0, doubles: 0, longs: 0, swipe: 'none', scale: 1, shakes: 0};
const count = (change) => {
  Object.assign(counts, change);
  say('counts', `taps ${counts.taps}, double taps ${counts.doubles}, long presses ${counts.longs}, swipe ${counts.swipe}, `
    + `scale ${counts.scale.toFixed(1)}, shakes ${counts.shakes}`);
};
count({});
let start;
let spread;
let lastTap = -Infinity;
const apart = ([a, b]) => Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
by('pad').addEventListener('click', () => {
  const now = performance.now();
  const double = now - lastTap < 300;
  lastTap = double ? -Infinity : now;
  count({taps: counts.taps + 1, doubles: counts.doubles + (double ? 1 : 0)});
});
by('pad').addEventListener('contextmenu', (event) => {
  event.preventDefault();
  count({longs: counts.longs + 1});
});
by('pad').addEventListener('touchstart', (event) => {
  if (event.touches.length === 1) [start] = event.touches;
  if (event.touches.length === 2) spread = apart(event.touches);
});
by('pad').addEventListener('touchmove', (event) => {
  if (event.touches.length === 2) count({scale: apart(event.touches) / spread});
});
by('pad').addEventListener('touchend', (event) => {
  if (spread) {
    if (event.touches.length === 0) spread = undefined;
    return;
  }
  const [end] = event.changedTouches;
  const [dx, dy] = [end.clientX - start.clientX, end.clientY - start.clientY];
  if (Math.hypot(dx, dy) < 30) return;
  count({swipe: Math.abs(dx) > Math.abs(dy) ? (dx > 0 ? 'right' : 'left') : (dy > 0 ? 'down' : 'up')});
});
addEventListener('shake', () => count({shakes: counts.shakes + 1}));
let grip;
by('card').addEventListener('touchstart', ({touches: [touch]}) => { grip = {x: touch.clientX, y: touch.clientY}; });
by('card').addEventListener('touchmove', ({touches: [touch]}) => {
  by('card').style.translate = `${touch.clientX - grip.x}px ${touch.clientY - grip.y}px`;
});
by('card').addEventListener('touchend', ({changedTouches: [touch]}) => {
  const over = document.elementsFromPoint(touch.clientX, touch.clientY).includes(by('target'));
  say('dropped', over ? 'Dropped' : 'Missed');
});

// Motion
let caught = 0;
function move() {
  by('mover').classList.add('moving');
  setTimeout(() => say('loaded', 'Loaded'), 1500);
}
by('mover').addEventListener('click', () => {
  caught += 1;
  say('caught', `Caught ${caught}`);
});

// A field at the bottom
document.querySelector('.bottom').addEventListener('submit', (event) => {
  event.preventDefault();
  say('sent', `Sent: ${test('noteField').value}`);
});

// Links: pocket://item/7, pocket://screen/list
function follow() {
  const [, what, which] = /^#pocket:\/\/(item|screen)\/(\w+)$/.exec(location.hash) ?? [];
  if (what === 'item') say('item-text', `Item ${which}`);
  if (what) open(what === 'item' ? 'item' : which);
}
addEventListener('hashchange', follow);
follow();
