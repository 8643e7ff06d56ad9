'use strict';

/** The fault switches: what a session asks to go wrong. Each is described in the README of this folder. */

const {errors} = require('appium/driver');

const FAULT_CAPABILITIES = {
  simRefuseStart: {isString: true}, simHangAtStart: {}, simCrashAfter: {isNumber: true}, simSlowCommand: {isObject: true},
  simAlertAtStart: {isString: true}, simServerDiesAt: {isString: true},
};

const SERVER_DIED = "'GET /source' cannot be proxied to UiAutomator2 server because the instrumentation process is not running "
  + '(probably crashed). Check the server log and/or the logcat output for more details';

class Faults {
  constructor(opts, log) {
    this.opts = opts;
    this.log = log;
    this.stopped = new Promise((resolve) => { this.stop = resolve; });
  }

  /** Before the device exists: refuse, or answer only after so many seconds (`true`: an hour). */
  async atStart() {
    const {simRefuseStart, simHangAtStart} = this.opts;
    if (simRefuseStart) throw new errors.SessionNotCreatedError(simRefuseStart);
    if (simHangAtStart) await this._wait((simHangAtStart === true ? 3600 : Number(simHangAtStart)) * 1000);
  }

  /** Once the session runs. */
  begin(driver) {
    const {simCrashAfter, simAlertAtStart} = this.opts;
    if (simAlertAtStart) driver.alerts.plain(simAlertAtStart);
    if (simCrashAfter !== undefined) this.timer = setTimeout(() => driver.chromium.child.kill('SIGKILL'), simCrashAfter * 1000);
  }

  /** Before each command: `command` is Appium's name of it, or the mobile: command's. */
  async before(command, args) {
    this.serverDied ||= command === this.opts.simServerDiesAt;
    if (this.serverDied && command !== 'deleteSession') throw new errors.InvalidContextError(SERVER_DIED);
    const slow = this.opts.simSlowCommand;
    if (slow && (slow.command === command || (command === 'execute' && slow.command === args[0]))) await this._wait(slow.ms);
  }

  end() {
    clearTimeout(this.timer);
    this.stop();
  }

  async _wait(ms) {
    let timer;
    await Promise.race([this.stopped, new Promise((resolve) => { timer = setTimeout(resolve, ms); })]);
    clearTimeout(timer);
  }
}

module.exports = {FAULT_CAPABILITIES, Faults};
