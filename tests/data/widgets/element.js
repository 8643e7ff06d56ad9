import { createApp, ref } from 'vue';
import ElementPlus from 'element-plus';
import 'element-plus/dist/index.css';
import { show } from './widget.js';

/** A Vue application with one model. */
const app = (template, value, more = {}) => (root) => {
  const model = ref(value);
  window.state = () => model.value;
  createApp({ template, setup: () => ({ model, log: window.log, ...more }) }).use(ElementPlus).mount(root);
};
const logging = (template, more = {}) => (root) => {
  app(template, null, more)(root);
  window.state = () => window.log;
};

const fruits = ['Apple', 'Banana', 'Cherry', 'Date'].map((label) => ({ label, value: label.toLowerCase() }));
const rows = Array.from({ length: 500 }, (_, n) => ({ label: `Row ${n}`, value: n }));
const places = [{ value: 'de', label: 'Germany', children: [{ value: 'b', label: 'Berlin' }, { value: 'hh', label: 'Hamburg' }] },
  { value: 'pt', label: 'Portugal', children: [{ value: 'l', label: 'Lisbon' }] }];
const people = [{ id: 1, name: 'Ann', age: 31 }, { id: 2, name: 'Ben', age: 25 }, { id: 3, name: 'Cleo', age: 47 }];

show({
  select: app(`<el-select v-model="model" aria-label="Fruit" style="width: 240px"><el-option v-for="o in fruits" :key="o.value"
    v-bind="o" /></el-select>`, '', { fruits }),
  filtered: app(`<el-select v-model="model" filterable aria-label="Fruit" style="width: 240px"><el-option v-for="o in fruits"
    :key="o.value" v-bind="o" /></el-select>`, '', { fruits }),
  virtual: app('<el-select-v2 v-model="model" :options="rows" aria-label="Row" style="width: 240px" />', '', { rows }),
  datepicker: app('<el-date-picker v-model="model" value-format="YYYY-MM-DD" aria-label="Day" :default-value="new Date(2030, 4, 1)" />', ''),
  timepicker: app('<el-time-select v-model="model" start="08:00" end="18:00" step="00:30" aria-label="Time" style="width: 200px" />', ''),
  cascader: app('<el-cascader v-model="model" :options="places" aria-label="Place" />', [], { places }),
  tree: logging(`<el-tree :data="places" show-checkbox node-key="value" @check="(node, all) => { log.length = 0;
    log.push(...all.checkedKeys) }" />`, { places }),
  table: logging(`<el-table :data="people" @selection-change="(kept) => { log.length = 0; log.push(...kept.map(k => k.name)) }">
    <el-table-column type="selection" width="55" /><el-table-column prop="name" label="Name" sortable />
    <el-table-column prop="age" label="Age" sortable /></el-table>`, { people }),
  transfer: app('<el-transfer v-model="model" :data="fruits" :props="{ key: \'value\', label: \'label\' }" :titles="[\'Here\', \'There\']" />',
    [], { fruits }),
  upload: logging(`<el-upload drag action="#" :auto-upload="false" :on-change="(file) => log.push(file.name)">Drop files here or
    <em>click to upload</em></el-upload>`),
  infinite: (root) => {
    const count = ref(20);
    window.state = () => count.value;
    createApp({
      template: `<ul v-infinite-scroll="more" :infinite-scroll-immediate="false" aria-label="News" style="height: 200px; overflow: auto">
        <li v-for="n in count" :key="n" style="height: 30px">News {{ n }}</li></ul>`,
      setup: () => ({ count, more: () => { if (count.value < 60) count.value += 20; } }),
    }).use(ElementPlus).mount(root);
  },
  number: app('<el-input-number v-model="model" :min="1" :max="9" aria-label="Seats" />', 1),
  pages: app('<el-pagination v-model:current-page="model" layout="prev, pager, next" :total="50" />', 1),
  slider: app('<div style="width: 300px; margin: 20px"><el-slider v-model="model" aria-label="Volume" /></div>', 10),
  switch: app('<el-switch v-model="model" aria-label="Dark mode" />', false),
  rate: app('<el-rate v-model="model" aria-label="Stars" />', 0),
  color: app('<el-color-picker v-model="model" aria-label="Colour" />', '#ff0000'),
  message: logging(`<el-popconfirm title="Delete this row?" @confirm="log.push('deleted')"><template #reference>
    <el-button>Delete</el-button></template></el-popconfirm>`),
});
