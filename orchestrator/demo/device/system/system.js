'use strict';

/** The system's own screen: home, lock, alerts, keyboard. The driver calls `show`; what is touched goes back by `__simAsk`. */

const by = (id) => document.getElementById(id);
const tell = (message) => globalThis.__simAsk(JSON.stringify(message));
const ROWS = ['qwertyuiop', 'asdfghjkl', 'zxcvbnm'];

const button = (text, press) => {
  const made = document.createElement('button');
  made.type = 'button';
  made.textContent = text;
  made.addEventListener('click', press);
  return made;
};

const key = (text, name, style = '') => {
  const made = button(text, () => tell({key: name}));
  made.setAttribute('role', 'key');
  made.setAttribute('aria-label', name);
  made.className = style;
  // A touch of a key leaves the caret where it is.
  made.addEventListener('mousedown', (event) => event.preventDefault());
  return made;
};

function home(apps) {
  by('home').hidden = !apps;
  by('home').querySelector('ul').replaceChildren(...(apps ?? []).map(({id, name}) => {
    const icon = button(name, () => tell({launch: id}));
    icon.dataset.letter = name[0];
    icon.setAttribute('aria-label', name);
    const item = document.createElement('li');
    item.append(icon);
    return item;
  }));
}

function alert(given, platform) {
  const box = by('alert');
  box.hidden = by('shade').hidden = !given;
  if (!given) return;
  const [title, text, input, menu] = box.children;
  const [above, below] = platform === 'iOS' ? [given.title, given.message] : [given.heading, given.title];
  box.ariaLabel = platform === 'iOS' ? given.title : null;
  box.dataset.resource = 'android:id/parentPanel';
  title.textContent = above ?? '';
  title.hidden = !above;
  title.dataset.resource = 'android:id/alertTitle';
  text.textContent = below ?? '';
  text.hidden = !below;
  text.dataset.resource = given.resource ?? 'android:id/message';
  input.hidden = given.input === undefined;
  input.value = given.input ?? '';
  input.dataset.resource = 'android:id/edit';
  menu.className = given.buttons.length > 2 ? 'many' : '';
  menu.replaceChildren(...given.buttons.map(({label, resource}, index) => {
    const made = button(label, () => tell({answer: index}));
    made.dataset.resource = resource ?? '';
    return made;
  }));
}

function keyboard(height) {
  by('keyboard').hidden = !height;
  by('keyboard').style.height = `${height}px`;
  if (!height || by('keyboard').childElementCount) return;
  const rows = ROWS.map((row) => [...row].map((letter) => key(letter, letter)));
  rows[2].unshift(key('⇧', 'shift', 'wide'));
  rows[2].push(key('⌫', 'delete', 'wide'));
  rows.push([key('.', '.', 'wide'), key('space', 'space', 'space'), key('@', '@', 'wide'), key('return', 'Return', 'wide')]);
  by('keyboard').append(...rows.map((keys) => {
    const row = document.createElement('div');
    row.append(...keys);
    return row;
  }));
}

/** Everything that the screen shows besides the app, replaced as a whole. */
globalThis.show = (state) => {
  document.documentElement.className = state.platform;
  document.title = state.apps ? 'Home' : 'System';
  home(state.apps);
  by('lock').hidden = !state.locked;
  keyboard(state.keyboard);
  alert(state.alert, state.platform);
};

/** Pictures of what is behind: `{data, x, y, width, height}` in points, PNG or JPEG in base64. Resolves when they are painted. */
globalThis.backdrop = async (layers) => {
  by('backdrop').replaceChildren(...await Promise.all(layers.map(async ({data, x, y, width, height}) => {
    const image = new Image();
    image.className = 'layer';
    image.style.cssText = `left:${x}px;top:${y}px;width:${width}px;height:${height}px`;
    image.src = `data:image/*;base64,${data}`;
    await image.decode();
    return image;
  })));
};

/** XPath over a source: the places of what it selects, counted over all elements in document order. */
globalThis.xpath = (source, expression, root) => {
  const parsed = new DOMParser().parseFromString(source, 'application/xml');
  if (parsed.querySelector('parsererror')) throw new Error('The source is not well-formed');
  const all = [...parsed.getElementsByTagName('*')];
  const from = root === undefined ? parsed : all[root];
  let found;
  try {
    found = parsed.evaluate(expression, from, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null);
  } catch (error) {
    return {invalid: error.message};
  }
  return Array.from({length: found.snapshotLength}, (_, index) => all.indexOf(found.snapshotItem(index)));
};
