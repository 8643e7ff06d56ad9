'use strict';

/** The kinds of phone that can be simulated: screens in points, device pixels a point, insets of the screen's edges. */

const {errors} = require('appium/driver');

const IOS = [
  ['iPhone SE', '17.5', 375, 667, 2, 20, 0],
  ['iPhone 13', '17.5', 390, 844, 3, 47, 34],
  ['iPhone 14', '17.5', 390, 844, 3, 47, 34],
  ['iPhone 15', '17.5', 393, 852, 3, 59, 34],
  ['iPhone 15 Pro', '17.5', 393, 852, 3, 59, 34],
  ['iPhone 15 Pro Max', '17.5', 430, 932, 3, 59, 34],
  ['iPhone 16', '18.2', 393, 852, 3, 59, 34],
  ['iPad Air', '17.5', 820, 1180, 2, 24, 20],
];
const ANDROID = [
  ['Pixel 6', '13', 412, 915, 2.625, 33, 24],
  ['Pixel 7', '14', 412, 915, 2.625, 33, 24],
  ['Pixel 8', '14', 412, 915, 2.625, 33, 24],
  ['Pixel 8 Pro', '14', 448, 998, 3, 33, 24],
  ['Pixel 9', '15', 412, 923, 2.625, 33, 24],
  ['Galaxy S23', '14', 360, 780, 3, 33, 24],
  ['Galaxy S24', '14', 360, 780, 3, 33, 24],
];
const TABLES = {iOS: IOS, Android: ANDROID};

const taken = new Map();
let count = 0;

/** The kind of that name; "iPhone 15 (simulated)", "iPhone 15 Simulator" and any case mean "iPhone 15". */
function kindOf(platform, deviceName, platformVersion) {
  const table = TABLES[platform];
  const asked = (deviceName ?? (platform === 'iOS' ? 'iPhone 15' : 'Pixel 8')).replace(/\s*(\(simulated\)|Simulator)$/i, '').trim();
  const row = table.find(([name]) => name.toLowerCase() === asked.toLowerCase());
  if (!row) {
    const names = table.map(([name]) => name).join(', ');
    throw new errors.SessionNotCreatedError(`Unknown device '${deviceName}': ${platform} is simulated on ${names}`);
  }
  const [name, version, width, height, scale, top, bottom] = row;
  return {
    deviceName: `${name} (simulated)`, platformVersion: platformVersion ?? version, width, height, scale, insets: {top, bottom},
  };
}

/** Take a device for a session: the one asked for by udid, or one nobody has. */
function take(platform, udid, sessionId) {
  count += 1;
  const name = udid ?? `sim-${platform.toLowerCase()}-${process.pid}-${count}`;
  const owner = taken.get(name);
  if (owner) {
    throw new errors.SessionNotCreatedError(`Device '${name}' is already in use by session ${owner}`);
  }
  taken.set(name, sessionId);
  return name;
}

/** Give a device back; of one that another session has nothing changes. */
function giveBack(udid, sessionId) {
  if (taken.get(udid) === sessionId) taken.delete(udid);
}

module.exports = {giveBack, kindOf, take};
