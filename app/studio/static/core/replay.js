// A plan, step by step, recomputed from its transfers: data held, similarity, what each sender spent.
import { at, segments } from "./conditions.js";

/**
 * Frames t = 0..T. Each has `data` and `received` in the order of `sampled`, the step's `flows` (columns: source,
 * target, fraction, datapoints, useful, before, after — Λ before and after it) and `spent`, by sender: D_k Σ Φ ψ (eq. 11)
 * and `share` Σ Φ (eq. 12). `similarity` is the mean Λ over the links into the sampled set. In a run, whose steps tell
 * who trains, `members` are those; a device that leaves them drops what it received.
 *
 * Λ_ki(t) = 1 − (1 − λ_ki)·u_ki(t), where u is the share of k's data not yet sent to i. If senders send once, u falls by
 * Φ. If they redraw, it falls by u·Φ: Λ += (1 − Λ)Φ while the link stays as it is (eq. 8).
 */
export function replay(network, schedule, plan) {
  const spans = segments(network, schedule);
  const order = new Map(plan.sampled.map((device, i) => [device, i]));
  const once = plan.transfer === "send_once";
  const unsent = new Map();
  let data = Float64Array.from(plan.sampled, (device) => network.devices.data[device]);
  const first = { step: 0, data, received: new Float64Array(data.length), flows: emptyFlows(), spent: new Map() };
  const frames = [{ ...first, similarity: meanOf(similarities(spans[0], order, network.n, unsent)) }];
  let [current, total, count] = [null, 0, 0];
  let members = new Set(plan.steps[0]?.sampled ?? plan.sampled);
  frames[0].members = members;
  for (const step of plan.steps) {
    const span = at(spans, step.step);
    const known = linksInto(span, order, network.n);
    const left = [...members].filter((device) => step.sampled && !step.sampled.includes(device));
    if (left.length || (step.sampled && step.sampled.length > members.size)) {
      members = new Set(step.sampled);
      data = data.map((held, i) => (left.includes(plan.sampled[i]) ? network.devices.data[plan.sampled[i]] : held));
      for (const key of [...unsent.keys()]) if (left.includes(key % network.n)) unsent.delete(key);
      current = null;
    }
    if (span !== current) {
      current = span;
      const values = similarities(span, order, network.n, unsent);
      [total, count] = [values.reduce((sum, value) => sum + value, 0), values.length];
    }
    const flows = emptyFlows();
    const spent = new Map();
    const received = new Float64Array(data.length);
    const { source, target, fraction } = step.transfers;
    for (let j = 0; j < source.length; j += 1) {
      const [k, i, phi] = [source[j], target[j], fraction[j]];
      const key = k * network.n + i;
      const link = known.get(key);
      const unsentYet = unsent.get(key) ?? 1;
      const fresh = 1 - span.links.similarity[link];
      const before = 1 - fresh * unsentYet;
      const share = once ? Math.min(phi, unsentYet) : unsentYet * phi;
      unsent.set(key, unsentYet - share);
      const held = network.devices.data[k];
      const useful = held * fresh * share;
      received[order.get(i)] += useful;
      const row = { source: k, target: i, fraction: phi, datapoints: held * phi, useful, before };
      row.after = before + fresh * share;
      total += row.after - before;
      for (const [name, value] of Object.entries(row)) flows[name].push(value);
      const sender = spent.get(k) ?? { cost: 0, share: 0 };
      sender.cost += held * phi * span.links.transmit_cost[link];
      sender.share += phi;
      spent.set(k, sender);
    }
    data = data.map((held, i) => held + received[i]);
    frames.push({ step: step.step, data, received, flows, spent, members, similarity: count ? total / count : null });
  }
  return { sampled: plan.sampled, order, spans, frames };
}

const emptyFlows = () => ({ source: [], target: [], fraction: [], datapoints: [], useful: [], before: [], after: [] });

/** Λ_ki now on the links of this span into the sampled set. */
function similarities(span, order, n, unsent) {
  return [...linksInto(span, order, n)].map(([key, link]) => 1 - (1 - span.links.similarity[link]) * (unsent.get(key) ?? 1));
}

const meanOf = (values) => (values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null);

const lookups = new WeakMap();

function linksInto(span, order, n) {
  const known = lookups.get(span) ?? new Map();
  if (known.order !== order) {
    known.clear();
    known.order = order;
    span.links.target.forEach((i, j) => {
      if (order.has(i)) known.set(span.links.source[j] * n + i, j);
    });
    lookups.set(span, known);
  }
  return known;
}

/** Λ_ki after step t on every link into the sampled set: Map from k·n + i. */
export function similarityAt(network, story, step) {
  const { links } = at(story.spans, Math.max(1, step));
  const found = new Map();
  links.target.forEach((i, j) => {
    if (story.order.has(i)) found.set(links.source[j] * network.n + i, links.similarity[j]);
  });
  for (const frame of story.frames.slice(1, step + 1)) {
    const { source, target, after } = frame.flows;
    source.forEach((k, j) => {
      const key = k * network.n + target[j];
      if (found.has(key)) found.set(key, after[j]);
    });
  }
  return found;
}
