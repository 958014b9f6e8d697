// What POST /v1/comparisons is asked, and its answer as rows, curves and points.
import { samplerColour } from "./looks.js";
import { toWire } from "./network.js";
import { toParameters } from "./settings.js";
import { interval } from "./student.js";

// Trying every set takes too long for all but small networks.
const ONLY_SMALL = new Set(["exhaustive"]);
const SMALL = 20;

/** The samplers to compare: those chosen, else all that can serve this network in a moment. */
export function comparedSamplers({ settings, samplers, network }) {
  if (settings.compare) return settings.compare.split(",");
  return samplers.map(({ name }) => name).filter((name) => !ONLY_SMALL.has(name) || network?.n <= SMALL);
}

/** Whole numbers in a text such as 2,4,8 or 1-10, each once and in order. */
export function readCounts(text) {
  const found = text.split(",").flatMap((word) => {
    const [first, last = first] = word.split("-").map((part) => parseInt(part, 10));
    return Number.isInteger(first) && last >= first ? Array.from({ length: Math.min(200, last - first + 1) }, (_, i) => first + i) : [];
  });
  return [...new Set(found)].filter((value) => value > 0).sort((a, b) => a - b);
}

const STAIRS = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 25, 32, 40, 50, 64, 80, 100];

/** Sample sizes that show how many devices a network of n needs: up to half of it. */
export const countsFor = (n) => STAIRS.filter((size) => size <= Math.max(Math.min(n, 6), n / 2));

/** What is compared with these settings, the network left out. */
export function comparisonParameters(state) {
  const { settings, network, schedule } = state;
  const { sample_size: size, sampler, seed, solver, ...shared } = toParameters(settings, schedule);
  const counts = readCounts(settings.counts).filter((one) => one <= network.n);
  const scales = [...new Set(settings.scales.split(",").map(Number).filter((one) => one > 0))];
  return {
    ...shared,
    samplers: comparedSamplers(state),
    sample_sizes: counts.length ? counts : [Math.min(size, network.n)],
    budget_scales: scales.length ? scales : [1],
    seeds: Array.from({ length: settings.seeds }, (_, i) => seed + i),
  };
}

/** The request; only a fleet tells joules, so it is sent as it came. */
export const comparisonRequest = (state) => ({
  ...(state.network.fleet ? { fleet: state.network.fleet } : { network: toWire(state.network) }),
  ...comparisonParameters(state),
});

const milliseconds = (row) => (row.timing_ms.sample ?? 0) + (row.timing_ms.solve ?? 0);
const mean = (values) => (values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null);

/** The groups of an answer, each with what a table shows of it; `key` names it. */
export function groupsOf({ rows, groups }) {
  return groups.map((group) => {
    const own = group.rows.map((number) => rows[number]);
    const planned = own.filter(({ state }) => state === "planned");
    return {
      ...group,
      key: keyOf(group),
      sets: new Set(planned.map(({ sampled }) => sampled.join(" "))).size,
      reason: own.find(({ reason }) => reason)?.reason,
      cut: planned.filter(({ sampler_status: status, status: solved }) => status === "time_limit" || solved === "time_limit").length,
      milliseconds: mean(planned.map(milliseconds)),
      gap: mean(planned.map(({ set_gap: gap }) => gap)),
    };
  });
}

export const keyOf = ({ sampler, sample_size: size, budget_scale: scale }) => `${sampler}/${size}/${scale}`;

/** The sampler that others are held against: the chosen one, else that of the plan, else the first. */
export function baselineSampler(groups, { baseline, sampler }) {
  const compared = new Set(groups.map((one) => one.sampler));
  return [baseline, sampler].find((name) => compared.has(name)) ?? groups[0].sampler;
}

/** The group that another is held against: this sampler's of the same size and scale. */
export const baselineOf = (groups, sampler, one) => groups.find((other) => other.sampler === sampler && other.sample_size === one.sample_size && other.budget_scale === one.budget_scale);

/**
 * How a group's objective differs from the baseline's, seed by seed as the service pairs them: the mean difference with its
 * interval, and `share`, `half` relative to the baseline. `tied` is within the certified gaps (the service gives them one
 * rank), `unsure` if the interval has both signs.
 */
export function difference(group, base, rows) {
  if (!group.objective || !base?.objective) return null;
  const objectives = (numbers) => new Map(numbers.map((number) => rows[number]).filter(({ objective }) => objective !== undefined).map(({ seed, objective }) => [seed, objective]));
  const theirs = objectives(base.rows);
  const pairs = [...objectives(group.rows)].filter(([seed]) => theirs.has(seed)).map(([seed, objective]) => objective - theirs.get(seed));
  if (!pairs.length) return null;
  const { mean: value, low = value, high = value } = interval(pairs);
  const size = Math.abs(base.objective.mean) || 1;
  const tied = group.key === base.key || group.rank === base.rank;
  return { value, low, high, pairs: pairs.length, share: value / size, half: (high - low) / 2 / size, tied, unsure: !tied && low <= 0 && high >= 0 };
}

const band = (groups, name) => ({
  y: groups.map((one) => one[name].mean),
  low: groups.map((one) => one[name].low ?? one[name].mean),
  high: groups.map((one) => one[name].high ?? one[name].mean),
});

const SCALE_DASHES = ["", "7 4", "2 3", "9 3 2 3"];

/** The objective over S, a line for each sampler and budget scale, and the bound that no choice of devices passes. */
export function sizeCurves(groups) {
  const planned = groups.filter(({ objective }) => objective);
  const scales = [...new Set(planned.map(({ budget_scale: scale }) => scale))];
  const named = (text, scale) => (scales.length > 1 ? `${text}, budgets × ${scale}` : text);
  return scales.flatMap((scale, i) => {
    const own = planned.filter((one) => one.budget_scale === scale);
    const bounds = new Map(own.map((one) => [one.sample_size, one.set_bound]));
    const dash = SCALE_DASHES[i % SCALE_DASHES.length];
    const lines = [...new Set(own.map(({ sampler }) => sampler))].map((sampler) => {
      const mine = own.filter((one) => one.sampler === sampler);
      return { name: named(sampler, scale), look: { colour: samplerColour(sampler), dash }, x: mine.map((one) => one.sample_size), ...band(mine, "objective") };
    });
    return [...lines, { name: named("no choice is below", scale), look: { colour: "#777777", dash: "2 3" }, x: [...bounds.keys()], y: [...bounds.values()] }];
  });
}

/** Objective against what it costs ("datapoints_sent" or "joules"), a point for each group. */
export function tradeOff(groups, cost) {
  const planned = groups.filter((one) => one.objective && one[cost]);
  const label = (one) => `${one.sampler}, S = ${one.sample_size}${one.budget_scale === 1 ? "" : `, budgets × ${one.budget_scale}`}`;
  return [...new Set(planned.map(({ sampler }) => sampler))].map((sampler) => {
    const own = planned.filter((one) => one.sampler === sampler);
    return {
      name: sampler,
      points: true,
      look: { colour: samplerColour(sampler), dash: "" },
      x: own.map((one) => one[cost].mean),
      ...band(own, "objective"),
      front: own.map(({ pareto }) => pareto),
      labels: own.map(label),
    };
  });
}

// Of what the largest number of devices gains over the smallest, so much is taken for enough.
const ENOUGH = 0.9;

/** How many devices a sampler needs for nearly all of the gain: {sampler, size, first, last}; null with too few sizes. */
export function needed(groups, sampler) {
  const own = groups.filter((one) => one.sampler === sampler && one.objective && one.budget_scale === groups[0].budget_scale);
  if (own.length < 3) return null;
  const [first, last] = [own[0], own.at(-1)];
  const gain = first.objective.mean - last.objective.mean;
  if (gain <= 0) return null;
  const size = own.find((one) => first.objective.mean - one.objective.mean >= ENOUGH * gain).sample_size;
  return { sampler, size, first: first.sample_size, last: last.sample_size, share: ENOUGH };
}
