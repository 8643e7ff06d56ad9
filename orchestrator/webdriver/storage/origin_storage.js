// Reads and writes the storage of the document's origin: local storage, session storage and IndexedDB.
// The value of this script has the functions `read` and `write`, which take and return JSON.
//
// Values of IndexedDB that JSON lacks are written as in Playwright's storage state: {d: date}, {bi: bigint}, {ta: typed
// array}, {a: array, id}, {o: object, id}, {ref: id} and so on.
(() => {
  'use strict';

  const BATCH = 100; // records that are read at once
  const ARRAYS = {
    i8: Int8Array, ui8: Uint8Array, ui8c: Uint8ClampedArray, i16: Int16Array, ui16: Uint16Array,
    i32: Int32Array, ui32: Uint32Array, f32: Float32Array, f64: Float64Array,
    bi64: BigInt64Array, bui64: BigUint64Array,
  };

  class Unwritable extends Error {}

  const done = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
    request.onblocked = () => reject(new Error('it is in use'));
  });
  const kindOf = (value) => Object.prototype.toString.call(value).slice(8, -1);

  // Encoding: `plain` is false once a value was met that JSON alone would not keep.

  function encoder() {
    const seen = new Map();
    let plain = true;
    const special = (value) => { plain = false; return value; };

    function number(value) {
      if (Number.isFinite(value) && !Object.is(value, -0)) return value;
      return special({ v: Object.is(value, -0) ? '-0' : String(value) });
    }

    function text(value) {
      if (!value.isWellFormed()) throw new Unwritable('half of a character');
      return value;
    }

    function collection(value, kind) {
      if (seen.has(value)) return special({ ref: seen.get(value) });
      const id = seen.size + 1;
      seen.set(value, id);
      if (kind === 'Array') return { a: Array.from(value, encode), id };
      return { o: Object.keys(value).map((k) => ({ k: text(k), v: encode(value[k]) })), id };
    }

    function object(value) {
      const kind = kindOf(value);
      if (kind === 'Array' || kind === 'Object') return collection(value, kind);
      if (kind === 'Date') return special({ d: Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString() });
      if (kind === 'RegExp') return special({ r: { p: text(value.source), f: value.flags } });
      if (kind === 'Error') return special({ e: { n: value.name, m: text(value.message), s: String(value.stack) } });
      if (kind === 'ArrayBuffer') return special({ ab: { b: toBase64(value) } });
      const array = Object.keys(ARRAYS).find((name) => ARRAYS[name].name === kind);
      if (!array) throw new Unwritable(kind);
      return special({ ta: { b: toBase64(value.buffer, value.byteOffset, value.byteLength), k: array } });
    }

    function encode(value) {
      switch (typeof value) {
        case 'undefined': return special({ v: 'undefined' });
        case 'boolean': return value;
        case 'number': return number(value);
        case 'string': return text(value);
        case 'bigint': return special({ bi: String(value) });
        default: return value === null ? { v: 'null' } : object(value);
      }
    }

    return { encode, isPlain: () => plain };
  }

  /** Return a value under `name` if JSON keeps it, else encoded under `nameEncoded`. */
  function field(name, value) {
    const { encode, isPlain } = encoder();
    const encoded = encode(value);
    return isPlain() && value !== null ? { [name]: value } : { [`${name}Encoded`]: encoded };
  }

  function decode(value, refs = new Map()) {
    if (value === null || typeof value !== 'object') return value;
    if ('ref' in value) return refs.get(value.ref);
    if ('v' in value) return { null: null, NaN, Infinity, '-Infinity': -Infinity, '-0': -0 }[value.v];
    if ('d' in value) return new Date(value.d);
    if ('bi' in value) return BigInt(value.bi);
    if ('r' in value) return new RegExp(value.r.p, value.r.f);
    if ('e' in value) return Object.assign(new Error(value.e.m), { name: value.e.n, stack: value.e.s });
    if ('ab' in value) return fromBase64(value.ab.b);
    if ('ta' in value) return new ARRAYS[value.ta.k](fromBase64(value.ta.b));
    if ('a' in value) {
      const array = [];
      refs.set(value.id, array);
      for (const one of value.a) array.push(decode(one, refs));
      return array;
    }
    const object = {};
    refs.set(value.id, object);
    for (const { k, v } of value.o ?? []) {
      Object.defineProperty(object, k, {
        value: decode(v, refs), writable: true, enumerable: true, configurable: true,
      });
    }
    return object;
  }

  function toBase64(buffer, start = 0, length = buffer.byteLength) {
    const bytes = new Uint8Array(buffer, start, length);
    let binary = '';
    for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
    return btoa(binary);
  }

  const fromBase64 = (text) => Uint8Array.from(atob(text), (one) => one.charCodeAt(0)).buffer;
  const given = (record, name) => (`${name}Encoded` in record ? decode(record[`${name}Encoded`]) : record[name]);

  // Databases

  const pathOf = (keyPath) => (
    Array.isArray(keyPath) ? { keyPathArray: [...keyPath] } : typeof keyPath === 'string' ? { keyPath } : {}
  );
  const pathFrom = (stored) => stored.keyPathArray ?? stored.keyPath ?? null;

  /** Open a database as it is; one that was deleted meanwhile is not made. */
  async function open(name) {
    const request = indexedDB.open(name);
    request.onupgradeneeded = () => request.transaction.abort();
    const database = await done(request);
    database.onversionchange = () => database.close();
    return database;
  }

  async function readRecords(store, room) {
    const records = [];
    for (let range = null; ;) {
      const [keys, values] = await Promise.all([
        done(store.getAllKeys(range, BATCH)), done(store.getAll(range, BATCH)),
      ]);
      for (const [at, key] of keys.entries()) {
        const record = { ...(store.keyPath === null ? field('key', key) : {}), ...field('value', values[at]) };
        room.left -= JSON.stringify(record).length;
        if (room.left < 0) throw new Unwritable('too much data');
        records.push(record);
      }
      if (keys.length < BATCH) return records;
      range = IDBKeyRange.lowerBound(keys[keys.length - 1], true);
    }
  }

  async function readDatabase(name, room) {
    const database = await open(name);
    try {
      const stores = [];
      const names = [...database.objectStoreNames];
      const transaction = names.length ? database.transaction(names, 'readonly') : null;
      for (const one of names) {
        const store = transaction.objectStore(one);
        const indexes = [...store.indexNames].map((index) => store.index(index)).map((index) => ({
          name: index.name, ...pathOf(index.keyPath), unique: index.unique, multiEntry: index.multiEntry,
        }));
        const { autoIncrement, keyPath } = store;
        stores.push({
          name: one, ...pathOf(keyPath), autoIncrement, indexes, records: await readRecords(store, room),
        });
      }
      return { name, version: database.version, stores };
    } finally {
      database.close();
    }
  }

  async function writeDatabase(stored, existing) {
    if (existing.includes(stored.name)) await done(indexedDB.deleteDatabase(stored.name));
    const request = indexedDB.open(stored.name, stored.version);
    request.onupgradeneeded = () => {
      // All in one transaction: a database is there as a whole, or not at all.
      for (const one of stored.stores) {
        const keyPath = pathFrom(one);
        const store = request.result.createObjectStore(one.name, { keyPath, autoIncrement: one.autoIncrement });
        for (const index of one.indexes) {
          store.createIndex(index.name, pathFrom(index), { unique: index.unique, multiEntry: index.multiEntry });
        }
        for (const record of one.records) {
          const value = given(record, 'value');
          if (keyPath === null) store.put(value, given(record, 'key'));
          else store.put(value);
        }
      }
    };
    (await done(request)).close();
  }

  const databaseNames = async () => (await indexedDB.databases()).map((one) => one.name);

  async function readDatabases(most) {
    const room = { left: most };
    const found = { indexedDB: [], unread: [] };
    for (const name of await databaseNames()) {
      try {
        found.indexedDB.push(await readDatabase(name, room));
      } catch (error) {
        found.unread.push({ name, reason: String(error?.message || error) });
      }
    }
    return found;
  }

  const entries = (storage) => Array.from({ length: storage.length }, (_, at) => storage.key(at)).map((name) => (
    { name: name.toWellFormed(), value: (storage.getItem(name) ?? '').toWellFormed() }
  ));

  function write(storage, items) {
    for (const { name, value } of items) storage.setItem(name, value);
  }

  return {
    /** Return what the origin has stored; of its databases those that together have at most so many characters. */
    async read({ most }) {
      if (self.origin === 'null') return '{}';
      return JSON.stringify({
        origin: self.origin,
        localStorage: entries(localStorage),
        sessionStorage: entries(sessionStorage),
        ...await readDatabases(most),
      });
    },
    /** Add entries, and replace databases of the same name. */
    async write({ localStorage: local = [], sessionStorage: session = [], indexedDB: databases = [] }) {
      write(localStorage, local);
      write(sessionStorage, session);
      const existing = databases.length ? await databaseNames() : [];
      for (const one of databases) await writeDatabase(one, existing);
      return '{}';
    },
  };
})()
