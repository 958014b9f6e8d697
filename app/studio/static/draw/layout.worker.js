// Settles a layout off the page's thread, and shows where it stands ten times a second.
import { settle } from "./force.js";

self.onmessage = ({ data: { n, ends, ticket } }) => {
  let shown = 0;
  for (const { x, y, done } of settle(n, ends)) {
    const now = performance.now();
    if (!done && now - shown < 100) continue;
    shown = now;
    self.postMessage({ ticket, x: Float64Array.from(x), y: Float64Array.from(y), done });
  }
};
