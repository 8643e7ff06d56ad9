'use strict';

/** Runs in the isolated world of an app: the phone's status bar above it, which takes no touches and is in no source. */

globalThis.sim.statusBar = ({platform, height, side}) => {
  const paint = () => {
    if (document.querySelector('sim-status-bar')) return;
    const host = document.createElement('sim-status-bar');
    host.style.cssText = 'position:fixed;inset:0 0 auto 0;z-index:2147483647;pointer-events:none;display:block';
    const bar = host.attachShadow({mode: 'closed'});
    bar.innerHTML = `<div style="box-sizing:border-box;height:${height}px;padding:${Math.round(height / 5)}px ${side}px 0;display:flex;
      justify-content:space-between;align-items:center;font:600 ${platform === 'iOS' ? 16 : 13}px/1 'Liberation Sans',Arial,sans-serif;
      color:#808690"><span>${platform === 'iOS' ? '9:41' : '12:30'}</span>
      <span style="font-size:11px;letter-spacing:.04em">SIMULATED &#9650; 100%</span></div>`;
    document.documentElement.append(host);
  };
  if (document.documentElement && document.readyState !== 'loading') paint();
  else addEventListener('DOMContentLoaded', paint);
};
