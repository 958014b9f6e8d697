// Devices that would cover one another are drawn a little apart.
import { Cells } from "./cells.js";

const MOST = 1000; // of more devices each is a dot, and to move them all would take the page too long
const ROUNDS = 30;
const SLACK = 0.1; // pixels
const FILLED = 0.35; // of the drawing: a share that discs in random places can take without overlap
const TURN = Math.PI * (3 - Math.sqrt(5));

/** Places where discs of these radii do not overlap at this scale; in a crowd as far as there is room. */
export function apart(places, scale, radii, area) {
  const n = radii.length;
  if (n > MOST) return places;
  const covered = radii.reduce((sum, radius) => sum + Math.PI * radius * radius, 0);
  const share = Math.min(1, Math.sqrt((FILLED * area) / covered));
  const sizes = radii.map((radius) => share * radius);
  const [x, y] = [places.x, places.y].map((along) => Float64Array.from(along, (value) => value * scale));
  let rounds = 0;
  while (rounds < ROUNDS && push(x, y, sizes)) rounds += 1;
  if (rounds === 0) return places;
  return { x: x.map((value) => value / scale), y: y.map((value) => value / scale) };
}

/** Push every two discs that overlap apart, each by half; whether there were any. */
function push(x, y, sizes) {
  const widest = sizes.reduce((a, b) => Math.max(a, b), 0);
  const cells = new Cells(x, y, 2 * widest);
  let pushed = false;
  for (let i = 0; i < sizes.length; i += 1) {
    const reach = sizes[i] + widest;
    cells.some([x[i] - reach, y[i] - reach, x[i] + reach, y[i] + reach], (j) => {
      if (j <= i) return false;
      const [dx, dy] = [x[j] - x[i], y[j] - y[i]];
      const distance = Math.hypot(dx, dy);
      const overlap = sizes[i] + sizes[j] - distance;
      if (overlap <= 0) return false;
      pushed = true;
      // Two on one spot part in a direction of their own, always the same.
      const [ux, uy] = distance > 0 ? [dx / distance, dy / distance] : [Math.cos(j * TURN), Math.sin(j * TURN)];
      const half = (overlap + SLACK) / 2;
      x[i] -= ux * half;
      y[i] -= uy * half;
      x[j] += ux * half;
      y[j] += uy * half;
      return false;
    });
  }
  return pushed;
}
