// Names beside devices: of the sampled and chosen ones always, of all when few are in sight.
import { nameOf } from "../core/network.js";
import { project } from "./camera.js";
import { INKS } from "./palette.js";

const MOST_IN_SIGHT = 70;
const MOST_SAMPLED = 60;
const LONGEST = 16;

/** Devices to name, the most important first. */
function wanted({ network, camera, places, width, height }, story, frame, pointed) {
  const inSight = [];
  for (let i = 0; i < network.n && inSight.length <= MOST_IN_SIGHT; i += 1) {
    const [x, y] = project(camera, places, i);
    if (x > 0 && y > 0 && x < width && y < height) inSight.push(i);
  }
  const sampled = frame && frame.members.size <= MOST_SAMPLED ? [...frame.members] : [];
  return [...new Set([...pointed, ...sampled, ...(inSight.length <= MOST_IN_SIGHT ? inSight : [])])];
}

/** Draw the names that do not cover one another; the devices that were named. */
export function drawLabels(pen, look, story, frame, pointed) {
  const ink = INKS[look.theme];
  const taken = [];
  const named = [];
  pen.textAlign = "center";
  pen.textBaseline = "top";
  pen.lineJoin = "round";
  for (const device of wanted(look, story, frame, pointed)) {
    const full = nameOf(look.network, device);
    const text = full.length > LONGEST ? `${full.slice(0, LONGEST - 1)}…` : full;
    const strong = pointed.includes(device) || frame?.members.has(device);
    const [x, y] = project(look.camera, look.places, device);
    if (x < 0 || y < 0 || x > look.width || y > look.height) continue;
    const held = frame?.members.has(device) ? frame.data[story.order.get(device)] : look.network.devices.data[device];
    const size = look.radius(held) * look.unit;
    const top = y + (frame?.members.has(device) ? Math.max(9, size) + 7 : size + 2);
    const half = text.length * 3.6 + 2;
    const box = [x - half, top, x + half, top + 13];
    if (taken.some((one) => box[0] < one[2] && box[2] > one[0] && box[1] < one[3] && box[3] > one[1])) continue;
    taken.push(box);
    named.push(device);
    pen.font = `${strong ? "700" : "400"} ${strong ? 13 : 11}px system-ui, sans-serif`;
    pen.strokeStyle = ink.paper;
    pen.lineWidth = 3.5;
    pen.strokeText(text, x, top);
    pen.fillStyle = ink.text;
    pen.fillText(text, x, top);
  }
  return named;
}
