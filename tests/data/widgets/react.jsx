import { useState } from 'react';
import { createRoot } from 'react-dom/client';
import {
  Accordion, AccordionDetails, AccordionSummary, Autocomplete, Button, Chip, FormControl, InputLabel, Menu, MenuItem, Select,
  Slider, TextField, ToggleButton, ToggleButtonGroup,
} from '@mui/material';
import ReactSelect from 'react-select';
import * as Headless from '@headlessui/react';
import * as Radix from '@radix-ui/react-select';
import { show } from './widget.js';

const fruits = ['Apple', 'Banana', 'Cherry', 'Date', 'Elderberry'];
const options = fruits.map((label) => ({ value: label.toLowerCase(), label }));
const rows = Array.from({ length: 300 }, (_, n) => `Row ${n}`);

/** A component whose value is the application's state. */
const component = (initial, Body) => (root) => {
  window.value = initial;
  window.state = () => window.value;
  const App = () => {
    const [value, set] = useState(initial);
    return <Body value={value} set={(next) => { window.value = next; set(next); }} />;
  };
  createRoot(root).render(<App />);
};

show({
  autocomplete: component(null, ({ value, set }) => (
    <Autocomplete options={fruits} value={value} onChange={(_, next) => set(next)} sx={{ width: 300 }}
      renderInput={(params) => <TextField {...params} label="Fruit" />} />)),
  long: component(null, ({ value, set }) => (
    <Autocomplete options={rows} value={value} onChange={(_, next) => set(next)} sx={{ width: 300 }}
      renderInput={(params) => <TextField {...params} label="Row" />} />)),
  tags: component([], ({ value, set }) => (
    <Autocomplete multiple options={fruits} value={value} onChange={(_, next) => set(next)} sx={{ width: 300 }}
      renderInput={(params) => <TextField {...params} label="Fruits" />} />)),
  select: component('', ({ value, set }) => (
    <FormControl sx={{ width: 200 }}><InputLabel id="l">Fruit</InputLabel>
      <Select labelId="l" label="Fruit" value={value} onChange={({ target }) => set(target.value)}>
        {options.map((each) => <MenuItem key={each.value} value={each.value}>{each.label}</MenuItem>)}
      </Select></FormControl>)),
  slider: component(30, ({ value, set }) => (
    <div style={{ width: 300, margin: 30 }}><Slider aria-label="Volume" value={value} onChange={(_, next) => set(next)} /></div>)),
  chips: component(fruits, ({ value, set }) => (
    <div>{value.map((each) => <Chip key={each} label={each} onDelete={() => set(value.filter((other) => other !== each))} />)}</div>)),
  toggles: component('left', ({ value, set }) => (
    <ToggleButtonGroup exclusive value={value} onChange={(_, next) => set(next)} aria-label="Alignment">
      <ToggleButton value="left">Left</ToggleButton><ToggleButton value="right">Right</ToggleButton></ToggleButtonGroup>)),
  accordion: component(false, ({ value, set }) => (
    <Accordion expanded={value} onChange={(_, next) => set(next)}><AccordionSummary>Shipping</AccordionSummary>
      <AccordionDetails>Two days</AccordionDetails></Accordion>)),
  menu: component('', ({ value, set }) => {
    const [anchor, open] = useState(null);
    return <div><Button aria-haspopup="menu" onClick={({ currentTarget }) => open(currentTarget)}>Account</Button>
      <Menu anchorEl={anchor} open={anchor !== null} onClose={() => open(null)}>
        {['Profile', 'Sign out'].map((each) => <MenuItem key={each} onClick={() => { set(each); open(null); }}>{each}</MenuItem>)}
      </Menu><p>{value}</p></div>;
  }),
  reactselect: component(null, ({ set }) => (
    <ReactSelect aria-label="Fruit" options={options} onChange={(next) => set(next.value)} />)),
  reactselectmany: component(null, ({ set }) => (
    <ReactSelect isMulti aria-label="Fruits" options={options} onChange={(next) => set(next.map((each) => each.value))} />)),
  listbox: component('Apple', ({ value, set }) => (
    <Headless.Field><Headless.Label>Fruit</Headless.Label><Headless.Listbox value={value} onChange={set}>
      <Headless.ListboxButton>{value}</Headless.ListboxButton>
      <Headless.ListboxOptions anchor="bottom" style={{ background: 'white' }}>
        {fruits.map((each) => <Headless.ListboxOption key={each} value={each}>{each}</Headless.ListboxOption>)}
      </Headless.ListboxOptions></Headless.Listbox></Headless.Field>)),
  combobox: component('', ({ value, set }) => {
    const [query, search] = useState('');
    return <Headless.Field><Headless.Label>Fruit</Headless.Label>
      <Headless.Combobox value={value} onChange={set} onClose={() => search('')}>
        <Headless.ComboboxInput displayValue={(each) => each} onChange={({ target }) => search(target.value)} />
        <Headless.ComboboxOptions anchor="bottom" style={{ background: 'white' }}>
          {fruits.filter((each) => each.toLowerCase().includes(query.toLowerCase()))
            .map((each) => <Headless.ComboboxOption key={each} value={each}>{each}</Headless.ComboboxOption>)}
        </Headless.ComboboxOptions></Headless.Combobox></Headless.Field>;
  }),
  radix: component('', ({ set }) => (
    <Radix.Root onValueChange={set}><Radix.Trigger aria-label="Fruit"><Radix.Value placeholder="Choose…" /></Radix.Trigger>
      <Radix.Portal><Radix.Content style={{ background: 'white' }}><Radix.Viewport>
        {options.map((each) => <Radix.Item key={each.value} value={each.value}><Radix.ItemText>{each.label}</Radix.ItemText></Radix.Item>)}
      </Radix.Viewport></Radix.Content></Radix.Portal></Radix.Root>)),
});
