// The name of the events between the engine's world and the page's own: in the page's, hooks.js and script.js send and
// answer them; in the engine's, requests.js, asks.js and values.js.
const CHANNEL = 'webdriver-orchestrator';
