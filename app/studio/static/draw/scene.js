// What the drawing needs of a network: each link once, devices' sizes and colours.
import { capacity } from "../core/measures.js";
import { shades } from "./palette.js";

/** Unordered pairs with the larger similarity of the two directions. */
export function pairs(network) {
  const { source, target, similarity } = network.links;
  const found = new Map();
  for (let j = 0; j < source.length; j += 1) {
    const key = source[j] < target[j] ? source[j] * network.n + target[j] : target[j] * network.n + source[j];
    const known = found.get(key);
    if (known === undefined || known < similarity[j]) found.set(key, similarity[j]);
  }
  const ends = new Int32Array(2 * found.size);
  const shown = new Float32Array(found.size);
  let e = 0;
  for (const [key, value] of found) {
    ends[2 * e] = Math.floor(key / network.n);
    ends[2 * e + 1] = key % network.n;
    shown[e] = value;
    e += 1;
  }
  return { ends, similarity: shown };
}

/** Area is data: radius √(D/mean), within reason. */
export function radiusOf(network) {
  const mean = network.devices.data.reduce((sum, held) => sum + held, 0) / network.n || 1;
  return (held) => Math.min(4, Math.max(0.3, Math.sqrt(held / mean)));
}

/** What colour can show, device by device. */
export const COLOURS = {
  capacity: (network) => Array.from({ length: network.n }, (_, i) => capacity(network, i)),
  receive: (network) => network.devices.receive_capacity,
  transmit: (network) => network.devices.transmit_budget,
};

/** `cover` tints devices by who covers them, in place of the colour; `blocked` ones are crossed. */
export function makeScene(network, colour, { cover = null, blocked }) {
  const radius = radiusOf(network);
  return {
    ...pairs(network),
    radius: Float32Array.from(network.devices.data, radius),
    colour: shades(COLOURS[colour](network)),
    cover,
    blocked,
  };
}
