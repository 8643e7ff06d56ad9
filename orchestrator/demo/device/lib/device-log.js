'use strict';

/** What the apps of a device write, until somebody asks for it; as each platform writes it. */

const LONGEST = 5_000;
const LETTERS = {debug: 'D', info: 'I', log: 'I', warning: 'W', error: 'E', assert: 'E'};
const WORDS = {debug: 'Debug', info: 'Notice', log: 'Notice', warning: 'Warning', error: 'Error', assert: 'Error'};

class DeviceLog {
  constructor() {
    this.lines = [];
  }

  /** Keep what `Runtime.consoleAPICalled` says of an app's page. */
  said(app, {type, args, timestamp}) {
    this._add(app, type, args.map((one) => one.value ?? one.description ?? one.type).join(' '), timestamp);
  }

  /** Keep what `Runtime.exceptionThrown` says of an app's page. */
  threw(app, {timestamp, exceptionDetails: {text, exception}}) {
    this._add(app, 'error', `${text} ${exception?.description ?? exception?.value ?? ''}`.trim(), timestamp);
  }

  /** What was written since the last time, as `{timestamp, level, message}`. */
  take(write) {
    const taken = this.lines.map((line) => ({timestamp: line.timestamp, level: 'ALL', message: write(line)}));
    this.lines = [];
    return taken;
  }

  _add(app, type, text, timestamp) {
    this.lines.push({app: app?.name ?? 'system', type, text, timestamp: Math.round(timestamp)});
    if (this.lines.length > LONGEST) this.lines.shift();
  }
}

/** A line as `logcat -v threadtime` has it. */
function logcat({app, type, text, timestamp}) {
  const [day, time] = new Date(timestamp).toISOString().slice(5, 23).split('T');
  return `${day} ${time}  4711  4711 ${LETTERS[type] ?? 'I'} ${app}: ${text}`;
}

/** A line as an iPhone's syslog has it. */
function syslog({app, type, text, timestamp}) {
  const [, day, month, , time] = new Date(timestamp).toUTCString().split(' ');
  return `${month} ${day} ${time} iPhone ${app}[4711] <${WORDS[type] ?? 'Notice'}>: ${text}`;
}

module.exports = {DeviceLog, logcat, syslog};
