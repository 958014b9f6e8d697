// What devices are in a plan: covered by which sampled device, unable to be sampled, and their groups.
import { obstacle } from "../core/measures.js";
import { segments } from "../core/conditions.js";
import { HUES } from "./palette.js";

const NOBODY = -1;

/**
 * For each device the sampled one (its place in the order of choice) whose data is most similar to its own, −1 if none is
 * linked; how similar, Λ_ki(0); and the colour of that place. A sampled device covers itself.
 */
export function covering(network, story, members) {
  const by = new Int32Array(network.n).fill(NOBODY);
  const strength = new Float32Array(network.n);
  const { source, target, similarity } = story.spans[0].links;
  for (let j = 0; j < source.length; j += 1) {
    const place = members.has(target[j]) ? story.order.get(target[j]) : undefined;
    if (place === undefined || (by[source[j]] !== NOBODY && similarity[j] <= strength[source[j]])) continue;
    by[source[j]] = place;
    strength[source[j]] = similarity[j];
  }
  for (const device of members) {
    by[device] = story.order.get(device);
    strength[device] = 1;
  }
  return { by, strength, hue: Int8Array.from(by, (place) => (place === NOBODY ? NOBODY : place % HUES.light.length)) };
}

const blocks = new WeakMap();

/** 1 for each device that cannot be sampled (eq. 10, or no data). */
export function blocked(network, schedule) {
  const known = blocks.get(network);
  if (known?.schedule === schedule) return known.found;
  const spans = segments(network, schedule);
  const found = Uint8Array.from({ length: network.n }, (_, i) => (obstacle(network, spans, i) ? 1 : 0));
  blocks.set(network, { schedule, found });
  return found;
}

/** Which group each device is drawn in: its sampled device's, else its trust group, else the label it holds most of. */
export function groupsOf(network, cover) {
  if (cover) return Array.from(cover.by);
  if (network.groups) return network.groups;
  const counts = network.devices.label_counts;
  return counts ? counts.map((row) => row.indexOf(Math.max(...row))) : new Array(network.n).fill(0);
}
