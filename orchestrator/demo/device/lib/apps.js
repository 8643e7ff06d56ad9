'use strict';

/** App bundles: a folder, or a zip of one whatever its ending, with a sim.json that says what it is. */

const fs = require('node:fs');
const path = require('node:path');
const {errors} = require('appium/driver');
const {zip} = require('appium/support');

const DESCRIPTION = 'sim.json';
const BUILT_IN = ['settings', 'browser'].map((name) => path.join(__dirname, '..', name));

/** What a device knows an app by: the bundle id on iOS, the package on Android. */
class App {
  constructor(folder, description, platform) {
    this.folder = folder;
    this.name = description.name;
    this.entry = description.entry ?? 'index.html';
    this.schemes = description.schemes ?? [];
    this.id = platform === 'iOS' ? description.bundleId : description.appPackage;
    this.activity = description.appActivity ?? '.MainActivity';
    this.version = description.version ?? '1.0';
    this.system = description.system ?? false;
    this.origin = `https://${this.id.toLowerCase().replaceAll('_', '-')}.test`;
    this.url = `${this.origin}/${this.entry}`;
  }
}

/** Read a bundle; a zip is unpacked below `scratch`. */
async function readBundle(bundle, platform, scratch) {
  if (!fs.existsSync(bundle)) {
    throw new errors.SessionNotCreatedError(`The application at '${bundle}' does not exist or is not accessible`);
  }
  let folder = bundle;
  if (fs.statSync(bundle).isFile()) {
    folder = fs.mkdtempSync(path.join(scratch, 'app-'));
    try {
      await zip.extractAllTo(bundle, folder);
    } catch (error) {
      throw new errors.SessionNotCreatedError(`The application at '${bundle}' is no zip archive: ${error.message}`);
    }
  }
  const found = [folder, ...fs.readdirSync(folder).map((name) => path.join(folder, name))]
    .find((candidate) => fs.existsSync(path.join(candidate, DESCRIPTION)));
  if (!found) {
    throw new errors.SessionNotCreatedError(
      `The application at '${bundle}' has no ${DESCRIPTION}: the simulated device runs only bundles made for it`);
  }
  const description = JSON.parse(fs.readFileSync(path.join(found, DESCRIPTION), 'utf8'));
  const key = platform === 'iOS' ? 'bundleId' : 'appPackage';
  if (!description[key]) {
    throw new errors.SessionNotCreatedError(`The application at '${bundle}' is not for ${platform}: its ${DESCRIPTION} has no ${key}`);
  }
  return new App(found, {name: path.basename(found), ...description}, platform);
}

/** The apps that every device has. */
async function builtIn(platform, scratch) {
  return Promise.all(BUILT_IN.map((bundle) => readBundle(bundle, platform, scratch)));
}

module.exports = {builtIn, readBundle};
