// Names beside devices: of the sampled and chosen ones, of all when few are in sight.
import { nameOf } from "../core/network.js";
import { project } from "./camera.js";
import { Cells } from "./cells.js";
import { ringOf } from "./flows.js";
import { INKS } from "./palette.js";

const MOST_IN_SIGHT = 70;
const MOST_SAMPLED = 60;
const LONGEST = 16;
const HEIGHT = 14;
const GAP = 2; // between a device's ring and its name
const CLEAR = 8; // between a name and another's ring; with it every name is nearest to its own device
const SIDES = [[0, 1], [0, -1], [1, 0], [-1, 0], [1, 1], [-1, 1], [1, -1], [-1, -1]]; // [right, down], the best first

/** Where the devices are on the canvas, and the radii of their rings. */
function outlines(look, story, frame) {
  const { n } = look.network;
  const [x, y, ring] = [new Float64Array(n), new Float64Array(n), new Float64Array(n)];
  for (let i = 0; i < n; i += 1) {
    [x[i], y[i]] = project(look.camera, look.places, i);
    ring[i] = ringOf(look, story, frame, i);
  }
  const widest = ring.reduce((a, b) => Math.max(a, b), 0);
  return { x, y, ring, widest, cells: new Cells(x, y, widest) };
}

/** Devices to name, the most important first. */
function wanted({ width, height }, { x, y }, frame, pointed) {
  const inSight = [];
  for (let i = 0; i < x.length && inSight.length <= MOST_IN_SIGHT; i += 1) {
    if (x[i] > 0 && y[i] > 0 && x[i] < width && y[i] < height) inSight.push(i);
  }
  const sampled = frame && frame.members.size <= MOST_SAMPLED ? [...frame.members] : [];
  return [...new Set([...pointed, ...sampled, ...(inSight.length <= MOST_IN_SIGHT ? inSight : [])])];
}

/** The boxes beside a device that its name can take. */
function boxesOf({ x, y, ring }, device, width) {
  return SIDES.map(([right, down]) => {
    const reach = ring[device] / Math.hypot(right, down) + GAP;
    const middle = x[device] + right * (reach + width / 2);
    const centre = y[device] + down * (reach + HEIGHT / 2);
    return [middle - width / 2, centre - HEIGHT / 2, middle + width / 2, centre + HEIGHT / 2];
  });
}

/** Whether a name in this box would be so near to another device that it seems to belong to that one. */
function nearAnother({ x, y, ring, widest, cells }, device, [left, top, right, bottom]) {
  const reach = widest + CLEAR;
  return cells.some([left - reach, top - reach, right + reach, bottom + reach], (other) => {
    const [dx, dy] = [Math.max(left - x[other], 0, x[other] - right), Math.max(top - y[other], 0, y[other] - bottom)];
    return other !== device && dx * dx + dy * dy < (ring[other] + CLEAR) ** 2;
  });
}

const fontOf = (strong) => (strong ? "700 13px system-ui, sans-serif" : "400 11px system-ui, sans-serif");

/** Where names go: [{device, text, font, box}]. One that has no room is left out, unless its device is pointed at. */
function placed(pen, look, story, frame, pointed) {
  const found = [];
  const { width, height } = look;
  const discs = outlines(look, story, frame);
  for (const device of wanted(look, discs, frame, pointed)) {
    const full = nameOf(look.network, device);
    const text = full.length > LONGEST ? `${full.slice(0, LONGEST - 1)}…` : full;
    const font = (pen.font = fontOf(pointed.includes(device) || frame?.members.has(device)));
    const boxes = boxesOf(discs, device, pen.measureText(text).width);
    const free = (box) =>
      box[0] >= 0 && box[1] >= 0 && box[2] <= width && box[3] <= height &&
      !found.some(({ box: one }) => box[0] < one[2] && box[2] > one[0] && box[1] < one[3] && box[3] > one[1]) &&
      !nearAnother(discs, device, box);
    const box = boxes.find(free) ?? (pointed.includes(device) && boxes[0]);
    if (box) found.push({ device, text, font, box });
  }
  return found;
}

/** Draw the names that cover neither one another nor another device; the devices that were named. */
export function drawLabels(pen, look, story, frame, pointed) {
  const ink = INKS[look.theme];
  const names = placed(pen, look, story, frame, pointed);
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.lineJoin = "round";
  for (const { text, font, box } of names) {
    const [x, y] = [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2];
    pen.font = font;
    pen.strokeStyle = ink.paper;
    pen.lineWidth = 3.5;
    pen.strokeText(text, x, y);
    pen.fillStyle = ink.text;
    pen.fillText(text, x, y);
  }
  return names.map(({ device }) => device);
}
