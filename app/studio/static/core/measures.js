// What is said of a set and of single devices beyond the plan's own numbers.
import { linksOf } from "./network.js";
import { similarityAt } from "./replay.js";

/** Σ_k D_k max_{i∈𝒮} Λ_ki(t) / Σ_k D_k: the share of all data that the sampled devices hold or cover. */
export function coverage(network, story, step) {
  const best = new Float64Array(network.n);
  for (const [key, value] of similarityAt(network, story, step)) {
    const k = Math.floor(key / network.n);
    if (value > best[k]) best[k] = value;
  }
  for (const device of story.sampled) best[device] = 1;
  let [covered, total] = [0, 0];
  network.devices.data.forEach((held, k) => {
    covered += held * best[k];
    total += held;
  });
  return total > 0 ? covered / total : 0;
}

/** Half the L1 distance between the sampled devices' label mixture after step t and the network's; null without labels. */
export function mixtureDistance(network, story, step) {
  const counts = network.devices.label_counts;
  if (!counts) return null;
  const shares = (row) => {
    const total = row.reduce((sum, value) => sum + value, 0);
    return row.map((value) => (total > 0 ? value / total : 0));
  };
  const everyone = new Array(counts[0].length).fill(0);
  for (const row of counts) row.forEach((value, c) => (everyone[c] += value));
  const held = new Array(everyone.length).fill(0);
  const add = (device, amount) => shares(counts[device]).forEach((share, c) => (held[c] += share * amount));
  for (const device of story.sampled) add(device, network.devices.data[device]);
  for (const frame of story.frames.slice(1, step + 1)) {
    frame.flows.source.forEach((k, j) => add(k, frame.flows.useful[j]));
  }
  const [all, ours] = [shares(everyone), shares(held)];
  return all.reduce((sum, share, c) => sum + Math.abs(share - ours[c]), 0) / 2;
}

/** Datapoints a device could be sent in one step if its neighbours served nobody else, within its own θ. */
export function reach(network, device) {
  const { links, devices } = network;
  const sum = linksOf(network).into[device].reduce((total, j) => {
    const k = links.source[j];
    const needed = devices.data[k] * links.transmit_cost[j];
    const share = needed > devices.transmit_budget[k] ? devices.transmit_budget[k] / needed : 1;
    return total + devices.data[k] * (1 - links.similarity[j]) * share;
  }, 0);
  return Math.min(sum, devices.receive_capacity[device]);
}

/** P_i/p_i, the datapoints a device can process. */
export const capacity = ({ devices }, i) =>
  devices.processing_cost[i] > 0 ? devices.processing_capacity[i] / devices.processing_cost[i] : Infinity;

const ranked = new WeakMap();

/** A device's rank (from 1) among all by data, capacity and reach. */
export function ranks(network, device) {
  if (!ranked.has(network)) {
    const rank = (value) => {
      const values = Float64Array.from({ length: network.n }, (_, i) => value(i));
      const order = Array.from(values.keys()).sort((a, b) => values[b] - values[a] || a - b);
      const places = new Int32Array(network.n);
      order.forEach((i, place) => (places[i] = place + 1));
      return { values, places };
    };
    ranked.set(network, {
      data: rank((i) => network.devices.data[i]),
      capacity: rank((i) => capacity(network, i)),
      reach: rank((i) => reach(network, i)),
    });
  }
  return Object.fromEntries(
    Object.entries(ranked.get(network)).map(([name, { values, places }]) => [
      name,
      { value: values[device], rank: places[device] },
    ]),
  );
}

/** Why a device cannot be sampled, or null: eq. (10) at every step of the horizon. */
export function obstacle(network, spans, device) {
  const held = network.devices.data[device];
  if (held === 0) return "It holds no data.";
  for (const { first, devices } of spans) {
    const [cost, limit] = [devices.processing_cost[device], devices.processing_capacity[device]];
    if (cost > 0 && held > (limit / cost) * (1 + 1e-9)) {
      const when = first > 1 ? ` from step ${first} on` : "";
      return `It cannot process what it holds${when}: p·D = ${(cost * held).toPrecision(4)} > P = ${limit.toPrecision(4)}.`;
    }
  }
  return null;
}
