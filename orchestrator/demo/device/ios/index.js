'use strict';

/** Appium asks for a main file inside the package's own folder. */
module.exports = require('../lib/ios');
