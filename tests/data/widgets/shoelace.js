import '@shoelace-style/shoelace/dist/themes/light.css';
import '@shoelace-style/shoelace/dist/shoelace.js';
import { markup, show } from './widget.js';

const at = (css) => document.querySelector(css);
const options = ['Mercury', 'Venus', 'Earth', 'Mars'].map((each) => `<sl-option value="${each.toLowerCase()}">${each}</sl-option>`).join('');

show({
  switch: markup('<sl-switch>Wifi</sl-switch>', () => at('sl-switch').checked),
  checkbox: markup('<sl-checkbox>Agree</sl-checkbox>', () => at('sl-checkbox').checked),
  radio: markup(`<sl-radio-group label="Size" value="s"><sl-radio value="s">Small</sl-radio><sl-radio value="l">Large</sl-radio>
    </sl-radio-group>`, () => at('sl-radio-group').value),
  select: markup(`<sl-select label="Planet">${options}</sl-select>`, () => at('sl-select').value),
  several: markup(`<sl-select label="Planets" multiple>${options}</sl-select>`, () => at('sl-select').value),
  range: markup('<sl-range label="Volume" min="0" max="100" value="20"></sl-range>', () => at('sl-range').value),
  rating: markup('<sl-rating label="Rating"></sl-rating>', () => at('sl-rating').value),
  input: markup('<sl-input label="City" clearable></sl-input>', () => at('sl-input').value),
  menu: markup(`<sl-dropdown><sl-button slot="trigger" caret>Edit</sl-button><sl-menu><sl-menu-item value="cut">Cut</sl-menu-item>
    <sl-menu-item value="copy">Copy</sl-menu-item><sl-menu-item type="checkbox" value="wrap">Wrap lines</sl-menu-item></sl-menu>
    </sl-dropdown>`, () => window.log, () => at('sl-menu').addEventListener('sl-select', ({ detail }) => window.log.push(detail.item.value))),
  tree: markup(`<sl-tree><sl-tree-item>Fruit<sl-tree-item>Apple</sl-tree-item><sl-tree-item>Pear</sl-tree-item></sl-tree-item>
    <sl-tree-item>Bread</sl-tree-item></sl-tree>`, () => window.log, () => at('sl-tree')
    .addEventListener('sl-selection-change', ({ detail }) => window.log.push(detail.selection[0].textContent.trim()))),
  carousel: markup(`<sl-carousel navigation pagination style="width: 400px; --aspect-ratio: 3/1">${[1, 2, 3].map((n) =>
    `<sl-carousel-item style="background: #ddd">Slide ${n}</sl-carousel-item>`).join('')}</sl-carousel>`, () => at('sl-carousel').activeSlide),
  tabs: markup(`<sl-tab-group><sl-tab slot="nav" panel="a">General</sl-tab><sl-tab slot="nav" panel="b">Advanced</sl-tab>
    <sl-tab-panel name="a">First panel</sl-tab-panel><sl-tab-panel name="b">Second panel</sl-tab-panel></sl-tab-group>`,
  () => window.log, () => at('sl-tab-group').addEventListener('sl-tab-show', ({ detail }) => window.log.push(detail.name))),
  details: markup('<sl-details summary="More about it">Hidden words</sl-details>', () => at('sl-details').open),
  dialog: markup(`<sl-button>Open</sl-button><sl-dialog label="Delete it?"><p>It cannot be undone.</p>
    <sl-button slot="footer" variant="danger">Delete</sl-button></sl-dialog>`, () => window.log, () => {
    at('sl-button').onclick = () => at('sl-dialog').show();
    at('sl-dialog sl-button').onclick = () => { window.log.push('deleted'); at('sl-dialog').hide(); };
  }),
  chips: markup('<sl-tag removable>Red</sl-tag> <sl-tag removable>Green</sl-tag>',
    () => [...document.querySelectorAll('sl-tag')].map((each) => each.textContent),
    (root) => root.addEventListener('sl-remove', ({ target }) => target.remove())),
  split: markup(`<sl-split-panel position="50" style="width: 600px; height: 120px; --divider-width: 12px"><div slot="start">Left</div>
    <div slot="end">Right</div></sl-split-panel>`, () => Math.round(at('sl-split-panel').position)),
});
