// What moves: flows along links, and the sampled devices, as the step has them.
import { project } from "./camera.js";
import { INKS } from "./palette.js";

const WIDTHS = [1.2, 2.2, 3.6, 5.4];

/** Flows of a frame: wider for more datapoints, with an arrow, and beads that travel while playing. */
export function drawFlows(pen, { camera, places, theme, unit }, frame, most, phase) {
  const { source, target, datapoints } = frame.flows;
  const kinds = WIDTHS.map(() => []);
  for (let j = 0; j < source.length; j += 1) {
    if (datapoints[j] <= most * 1e-6) continue;
    const kind = Math.min(WIDTHS.length - 1, Math.floor(Math.sqrt(datapoints[j] / most) * WIDTHS.length));
    kinds[kind].push(j);
  }
  pen.strokeStyle = pen.fillStyle = INKS[theme].flow;
  pen.lineCap = "round";
  kinds.forEach((flows, kind) => {
    pen.lineWidth = WIDTHS[kind];
    pen.globalAlpha = 0.85;
    pen.beginPath();
    for (const j of flows) {
      const [[ax, ay], [bx, by]] = [project(camera, places, source[j]), project(camera, places, target[j])];
      pen.moveTo(ax, ay);
      pen.lineTo(bx, by);
    }
    pen.stroke();
    pen.beginPath();
    for (const j of flows) arrow(pen, project(camera, places, source[j]), project(camera, places, target[j]), unit, kind);
    pen.fill();
    if (phase === null) return;
    pen.globalAlpha = 1;
    const side = WIDTHS[kind] + 2.4;
    for (const j of flows) {
      const [[ax, ay], [bx, by]] = [project(camera, places, source[j]), project(camera, places, target[j])];
      const along = (phase + (j % 7) / 7) % 1;
      pen.fillRect(ax + (bx - ax) * along - side / 2, ay + (by - ay) * along - side / 2, side, side);
    }
  });
  pen.globalAlpha = 1;
}

function arrow(pen, [ax, ay], [bx, by], unit, kind) {
  const length = Math.hypot(bx - ax, by - ay);
  if (length < 14) return;
  const [ux, uy] = [(bx - ax) / length, (by - ay) / length];
  const size = 5 + WIDTHS[kind];
  const at = length * 0.55;
  const [x, y] = [ax + ux * at, ay + uy * at];
  pen.moveTo(x + ux * size, y + uy * size);
  pen.lineTo(x - uy * size * 0.6, y + ux * size * 0.6);
  pen.lineTo(x + uy * size * 0.6, y - ux * size * 0.6);
  pen.closePath();
}

/** Sampled devices: grown to what they hold, ringed, numbered in order of choice. */
export function drawSampled(pen, { camera, places, theme, unit, radius, binding }, story, frame) {
  const ink = INKS[theme];
  pen.font = "600 12px system-ui, sans-serif";
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  story.sampled.forEach((device, place) => {
    if (!frame.members.has(device)) return;
    const [x, y] = project(camera, places, device);
    const size = Math.max(9, radius(frame.data[place]) * unit);
    pen.beginPath();
    pen.arc(x, y, size, 0, 2 * Math.PI);
    pen.fillStyle = ink.sampled;
    pen.fill();
    pen.lineWidth = 2.5;
    pen.strokeStyle = ink.ring;
    pen.stroke();
    if (binding.has(device)) {
      pen.beginPath();
      pen.setLineDash([4, 3]);
      pen.arc(x, y, size + 4, 0, 2 * Math.PI);
      pen.lineWidth = 2;
      pen.stroke();
      pen.setLineDash([]);
    }
    pen.fillStyle = "#101318";
    pen.fillText(String(place + 1), x, y + 0.5);
  });
}

/** A device that is pointed at or chosen. */
export function drawMark(pen, { camera, places, theme, unit, radius }, device, held, strong) {
  const [x, y] = project(camera, places, device);
  const size = Math.max(4, radius(held) * unit) + (strong ? 6 : 4);
  pen.beginPath();
  pen.arc(x, y, size, 0, 2 * Math.PI);
  pen.lineWidth = strong ? 3 : 1.5;
  pen.strokeStyle = INKS[theme].ring;
  pen.stroke();
}
