// Where to draw devices that have no places of their own: links pull, all devices push, and it cools down.
import { Random } from "../core/random.js";
import { repel } from "./quadtree.js";

const LENGTH = 30;
const PUSH = 30;
const COOLING = 0.0228; // 300 rounds from 1 to 0.001
const FRICTION = 0.6;

/** Rounds of the layout; each yields the places so far. The same network always ends the same. */
export function* settle(n, ends, rounds = 300) {
  const random = new Random(n, "layout");
  const spread = LENGTH * Math.sqrt(n) * 0.6;
  const x = Float64Array.from({ length: n }, () => spread * random.uniform(-1, 1));
  const y = Float64Array.from({ length: n }, () => spread * random.uniform(-1, 1));
  const [vx, vy] = [new Float64Array(n), new Float64Array(n)];
  const degree = new Float64Array(n);
  for (const end of ends) degree[end] += 1;
  let heat = 1;
  for (let round = 0; round < rounds; round += 1) {
    heat -= heat * COOLING;
    pull(x, y, vx, vy, ends, degree, heat);
    repel(x, y, vx, vy, PUSH * heat);
    let [mx, my] = [0, 0];
    for (let i = 0; i < n; i += 1) {
      // A faint pull to the middle keeps unlinked devices in sight.
      vx[i] = (vx[i] - x[i] * 0.04 * heat) * FRICTION;
      vy[i] = (vy[i] - y[i] * 0.04 * heat) * FRICTION;
      x[i] += vx[i];
      y[i] += vy[i];
      mx += x[i] / n;
      my += y[i] / n;
    }
    for (let i = 0; i < n; i += 1) {
      x[i] -= mx;
      y[i] -= my;
    }
    yield { x, y, done: round === rounds - 1 };
  }
}

function pull(x, y, vx, vy, ends, degree, heat) {
  for (let e = 0; e < ends.length; e += 2) {
    const [a, b] = [ends[e], ends[e + 1]];
    let dx = x[b] + vx[b] - x[a] - vx[a];
    let dy = y[b] + vy[b] - y[a] - vy[a];
    const distance = Math.hypot(dx, dy) || 1e-6;
    const tug = ((distance - LENGTH) / distance) * (heat / Math.min(degree[a], degree[b]));
    dx *= tug;
    dy *= tug;
    const bias = degree[a] / (degree[a] + degree[b]);
    vx[b] -= dx * bias;
    vy[b] -= dy * bias;
    vx[a] += dx * (1 - bias);
    vy[a] += dy * (1 - bias);
  }
}
