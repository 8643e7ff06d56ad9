import './jquery-global.js';
import 'jquery-ui/dist/jquery-ui.js';
import 'jquery-ui/dist/themes/base/jquery-ui.css';
import { markup, show } from './widget.js';

const $ = window.jQuery;
const cities = ['Berlin', 'Bern', 'Lisbon', 'London', 'Madrid'];

show({
  accordion: markup('<div id=w><h3>First</h3><div>One</div><h3>Second</h3><div>Two</div></div>',
    () => $('#w').accordion('option', 'active'), () => $('#w').accordion()),
  autocomplete: markup('<label>City <input id=w></label>', () => window.log, () => $('#w')
    .autocomplete({ source: cities, select: (event, ui) => { window.log.push(ui.item.value); } })),
  datepicker: markup('<label>Day <input id=w></label>', () => $.datepicker.formatDate('yy-mm-dd', $('#w').datepicker('getDate')),
    () => $('#w').datepicker({ defaultDate: new Date(2030, 4, 1) })),
  slider: markup('<div id=w style="width: 300px; margin: 20px"></div>', () => $('#w').slider('value'), () => $('#w').slider({ value: 20 })),
  spinner: markup('<label for=w>Amount</label><input id=w value=1>', () => $('#w').spinner('value'), () => $('#w').spinner()),
  selectmenu: markup(`<label for=w>Speed</label><select id=w><option>Slow<option>Medium<option>Fast</select>`,
    () => $('#w').val(), () => $('#w').selectmenu({ width: 200 })),
  menu: markup(`<ul id=w style="width: 150px"><li><div>File</div><ul><li><div>Save</div></li><li><div>Print</div></li></ul></li>
    <li><div>Help</div></li></ul>`, () => window.log, () => $('#w').menu({ select: (event, ui) => window.log.push(ui.item.text().trim()) })),
  tabs: markup('<div id=w><ul><li><a href=#a>Alpha</a></li><li><a href=#b>Beta</a></li></ul><div id=a>Aa</div><div id=b>Bb</div></div>',
    () => $('#w').tabs('option', 'active'), () => $('#w').tabs()),
  dialog: markup('<div id=w title="Your name"><label>Name <input></label></div>', () => $('#w').dialog('isOpen'),
    () => $('#w').dialog({ modal: true, buttons: { Save: () => $('#w').dialog('close') } })),
  sortable: markup('<ul id=w style="width: 200px">' + ['One', 'Two', 'Three'].map((each) =>
    `<li style="height: 30px; border: 1px solid">${each}</li>`).join('') + '</ul>',
  () => $('#w li').toArray().map((each) => each.textContent), () => $('#w').sortable()),
  droppable: markup(`<div id=w style="width: 80px; height: 40px; background: #cce">Card</div>
    <div id=z style="margin-top: 60px; width: 200px; height: 80px; border: 1px dashed">Done column</div>`, () => window.log, () => {
    $('#w').draggable();
    $('#z').droppable({ drop: () => window.log.push('dropped') });
  }),
  buttons: markup(`<fieldset id=w><legend>View</legend><label for=x>Bold</label><input type=checkbox id=x><label for=y>Italic</label>
    <input type=checkbox id=y></fieldset>`, () => [$('#x').prop('checked'), $('#y').prop('checked')],
  () => $('#w').controlgroup()),
  tooltip: markup('<button id=w title="Saves the file">Save</button>', () => window.log, () => $(document)
    .tooltip({ open: () => window.log.push('open') })),
});
