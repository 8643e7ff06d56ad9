import { markup, show } from './widget.js';

show({
  canvas: markup(`<canvas width=300 height=100 role=group aria-label="Seats"><button>Seat 1</button><button>Seat 2</button></canvas>`,
    () => window.log, (root) => root.addEventListener('click', ({ target }) => window.log.push(target.textContent))),
});
