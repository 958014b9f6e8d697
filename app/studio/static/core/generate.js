// A network from a few settings and a seed, made much as the simulator makes them (docs/simulator.md):
//   p = w/s   P = p·(D + room·(1 − ℓ)·s·μ)   θ = receive·(1 − ℓ)·s·μ   Ψ = transmit·(1 − ℓ)·μ   ψ = 12 Mbps / rate
// with s and w a board's speed and power, ℓ its load and μ the mean number of datapoints.
import { Random } from "./random.js";
import { TOPOLOGIES } from "./topologies.js";

export const CLASSES = 10;
const MEAN = 600;
const BOARDS = [
  { speed: 1, power: 1 },
  { speed: 0.5, power: 0.4 },
  { speed: 0.75, power: 1.2 },
];
const RATES = [1, 6, 9];
const ROOM = 6;
export const BUDGETS = {
  loose: { receive: 0.6, transmit: 0.5 },
  tight: { receive: 0.06, transmit: 0.01 },
  scarce: { receive: 0.06, transmit: 0.001 },
};
// So many datapoints of a class make most further ones of it similar to one that is held.
const SATURATION = 300;

/** Six digits are enough, and keep requests short. */
const short = (value) => Number(value.toPrecision(6));

/** The network for these settings: the same for the same settings, wherever it is made. */
export function generate(settings) {
  const { n, seed } = settings;
  const { pairs, positions } = TOPOLOGIES[settings.topology](n, settings.degree, new Random(seed, "topology"));
  const data = dataSizes(n, settings.sizes, new Random(seed, "data"));
  const counts = labelCounts(data, settings.labels, new Random(seed, "labels"));
  const devices = { data, ...columns(data, settings, new Random(seed, "devices")), label_counts: counts };
  return { n, devices, links: links(pairs, data, counts, new Random(seed, "links")), positions };
}

function dataSizes(n, sizes, random) {
  const draw =
    sizes === "even"
      ? () => random.normal(MEAN, Math.sqrt(0.2 * MEAN))
      : () => MEAN * Math.exp(random.normal(-0.18, 0.6));
  return Float64Array.from({ length: n }, () => Math.max(1, Math.round(draw())));
}

/** Each device holds some classes only, in random shares. */
function labelCounts(data, labels, random) {
  return Array.from(data, (amount) => {
    const row = new Array(CLASSES).fill(0);
    const held = random.choose(CLASSES, Math.min(labels, CLASSES));
    const weights = held.map(() => 0.2 + random.uniform());
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    let left = amount;
    held.forEach((label, i) => {
      const count = i === held.length - 1 ? left : Math.min(left, Math.round((amount * weights[i]) / total));
      row[label] = count;
      left -= count;
    });
    return row;
  });
}

function columns(data, settings, random) {
  const n = data.length;
  const budget = BUDGETS[settings.budgets];
  const made = {
    processing_capacity: new Float64Array(n),
    processing_cost: new Float64Array(n),
    receive_capacity: new Float64Array(n),
    transmit_budget: new Float64Array(n),
  };
  for (let i = 0; i < n; i += 1) {
    const { speed, power } = BOARDS[random.below(BOARDS.length)];
    const spare = (1 - random.uniform(0.25, 0.75)) * MEAN;
    const cost = power / speed;
    // A straggler cannot process even what it holds, so it cannot be sampled (eq. 10).
    const straggles = random.uniform() < settings.stragglers / 100;
    const fits = straggles ? data[i] * random.uniform(0.3, 0.9) : data[i] + ROOM * speed * spare;
    made.processing_cost[i] = short(cost);
    made.processing_capacity[i] = short(cost * fits);
    made.receive_capacity[i] = short(budget.receive * spare * speed);
    made.transmit_budget[i] = short(budget.transmit * spare);
  }
  return made;
}

/** A link each way; Λ_ki is the share of k's data whose class i holds, the more of it the surer. */
function links(pairs, data, counts, random) {
  const total = 2 * pairs.length;
  const made = {
    source: new Int32Array(total),
    target: new Int32Array(total),
    similarity: new Float64Array(total),
    transmit_cost: new Float64Array(total),
  };
  pairs.forEach(([a, b], p) => {
    for (const [at, k, i] of [
      [2 * p, a, b],
      [2 * p + 1, b, a],
    ]) {
      made.source[at] = k;
      made.target[at] = i;
      made.similarity[at] = short(covered(counts[k], counts[i], data[k]));
      made.transmit_cost[at] = short(12 / RATES[random.below(RATES.length)]);
    }
  });
  return made;
}

function covered(sender, receiver, amount) {
  let sum = 0;
  for (let c = 0; c < CLASSES; c += 1) sum += sender[c] * (1 - Math.exp(-receiver[c] / SATURATION));
  return sum / amount;
}
