// What moves: flows along links, and the sampled devices, as the step has them.
import { linksOf } from "../core/network.js";
import { project } from "./camera.js";
import { HUES, INKS } from "./palette.js";

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

/** Sampled devices: grown to what they hold, ringed in the colour of what they cover. */
export function drawSampled(pen, { camera, places, theme, unit, radius, cover }, story, frame) {
  const ink = INKS[theme];
  for (const device of frame.members) {
    const [x, y] = project(camera, places, device);
    const size = sizeOf({ unit, radius }, story, frame, device);
    pen.beginPath();
    pen.arc(x, y, size, 0, 2 * Math.PI);
    pen.fillStyle = ink.sampled;
    pen.fill();
    pen.lineWidth = cover ? 4.5 : 2.5;
    pen.strokeStyle = cover ? HUES[theme][cover.hue[device]] : ink.ring;
    pen.stroke();
  }
}

const sizeOf = ({ unit, radius }, story, frame, device) => Math.max(9, radius(frame.data[story.order.get(device)]) * unit);

/** The radius of the ring around a device, which is drawn where a budget binds. */
export function ringOf(look, story, frame, device) {
  if (frame?.members.has(device)) return sizeOf(look, story, frame, device) + 6;
  return Math.max(3, look.radius(look.network.devices.data[device]) * look.unit) + 3;
}

/** A dashed ring around every device with a budget that is used up, whether it trains or sends. */
export function drawBinding(pen, look, story, frame) {
  const { camera, places, theme, binding } = look;
  pen.beginPath();
  for (const device of binding) {
    const [x, y] = project(camera, places, device);
    const size = ringOf(look, story, frame, device);
    pen.moveTo(x + size, y);
    pen.arc(x, y, size, 0, 2 * Math.PI);
  }
  pen.setLineDash([4, 3]);
  pen.lineWidth = 1.8;
  pen.strokeStyle = INKS[theme].ring;
  pen.stroke();
  pen.setLineDash([]);
}

/** A device that is pointed at or chosen, with its links and neighbours. */
export function drawMark(pen, { camera, places, theme, unit, radius, network }, device, held, strong) {
  const [x, y] = project(camera, places, device);
  const { into, out } = linksOf(network);
  const others = new Set([...into[device].map((j) => network.links.source[j]), ...out[device].map((j) => network.links.target[j])]);
  pen.strokeStyle = INKS[theme].ring;
  pen.globalAlpha = strong ? 0.75 : 0.5;
  pen.lineWidth = strong ? 1.6 : 1.1;
  pen.beginPath();
  for (const other of others) {
    const [ox, oy] = project(camera, places, other);
    const size = Math.max(4, radius(network.devices.data[other]) * unit) + 2;
    pen.moveTo(x, y);
    pen.lineTo(ox, oy);
    pen.moveTo(ox + size, oy);
    pen.arc(ox, oy, size, 0, 2 * Math.PI);
  }
  pen.stroke();
  pen.globalAlpha = 1;
  const size = Math.max(4, radius(held) * unit) + (strong ? 6 : 4);
  pen.beginPath();
  pen.arc(x, y, size, 0, 2 * Math.PI);
  pen.lineWidth = strong ? 3 : 1.5;
  pen.stroke();
}
