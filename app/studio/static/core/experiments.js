// A validation's request, and its results as tables.
import { figure } from "./format.js";
import { toWire } from "./network.js";

export const SCHEMES = [
  ["ours-offload", "Ours, with offloading"],
  ["smart-offload", "Smart (the paper's), with offloading"],
  ["random-offload", "Random, with offloading"],
  ["heuristic-offload", "Heuristic, with offloading"],
  ["ours", "Ours"],
  ["smart", "Smart (the paper's)"],
  ["random", "Random"],
  ["heuristic", "Heuristic"],
  ["all", "FedL on all devices"],
];

const SAMPLERS = ["ours", "random", "heuristic", "smart", "plan", "all"];

/** A scheme's colour and dash, the same in every chart: the colour says who is sampled, a solid line that data is sent. */
export function lookOf(scheme) {
  const place = SAMPLERS.indexOf(scheme.replace("-offload", ""));
  const sends = scheme.endsWith("-offload") || scheme === "plan";
  return { colour: place < 0 ? SAMPLERS.length : place, dash: sends ? "" : "6 4" };
}

/** The request for what the form says; the source is the shown network, the shown plan or new networks. */
export function validationRequest(form, { network, schedule, plan, settings }) {
  const seeds = Array.from({ length: form.seeds }, (_, i) => i);
  const common = {
    data_set: form.data_set,
    schemes: form.schemes,
    seeds,
    draws: form.draws,
    target: form.target,
    labels_per_device: settings.labels,
  };
  // A plan brings its own sizes along.
  if (form.source === "plan") return { source: { kind: "plan", id: plan.kept ?? "plan_…" }, ...common };
  const sizes = { aggregations: form.aggregations, sample_size: Math.min(settings.size, network.n), aggregation_period: settings.period };
  if (form.source === "generator") {
    const names = { "small-world": "watts-strogatz", "scale-free": "barabasi-albert" };
    const source = {
      kind: "generator",
      devices: network.n,
      topology: names[settings.topology] ?? settings.topology,
      link_probability: Math.min(1, Math.max(0.001, settings.degree / Math.max(1, network.n - 1))),
      budget: settings.budgets,
    };
    return { source, ...common, ...sizes };
  }
  const source = { kind: "network", network: toWire(network), ...(schedule.length ? { schedule } : {}) };
  return { source, ...common, ...sizes };
}

export const ENDED = new Set(["succeeded", "failed", "cancelled"]);

/** What to say of a scheme's number beside its bar: nothing if it is final, else where the scheme stands. */
export function standing(job, scheme, key) {
  const { runs, runs_planned: planned, accuracy } = scheme;
  const ended = ENDED.has(job.state);
  if (runs < planned) {
    const stopped = ended ? `stopped after ${runs} of ${planned} runs` : "";
    if (!accuracy.mean.length) return ended ? "not begun, stopped" : "not begun";
    if (runs === 0) return stopped || `running, ${accuracy.mean.length - 1} of ${job.aggregations} aggregations`;
    const so = scheme[key] === undefined ? reachedBy(scheme) : figure(scheme[key]);
    return stopped ? `${so}, ${stopped}` : `${so} so far, ${runs} of ${planned} runs`;
  }
  return scheme[key] === undefined ? reachedBy(scheme) : undefined;
}

/** A target's number is a mean over runs, so it is told only if all of them reached it. */
function reachedBy({ reached, runs }) {
  const count = Math.round(reached * runs);
  return count ? `reached by ${count} of ${runs} runs` : "not reached";
}

/** A row per aggregation, two columns per scheme: mean and deviation of a measure. */
export function curveTable(job, measure) {
  const schemes = job.schemes.filter((one) => one[measure].mean.length);
  const length = Math.max(0, ...schemes.map((one) => one[measure].mean.length));
  const head = ["aggregation", ...schemes.flatMap(({ scheme }) => [scheme, `${scheme} deviation`])];
  const rows = Array.from({ length }, (_, k) => [k, ...schemes.flatMap((one) => [one[measure].mean[k] ?? null, one[measure].deviation[k] ?? null])]);
  return [head, ...rows];
}

/** Lines with a band of one deviation. */
export function curveSeries(job, measure) {
  return job.schemes
    .filter((one) => one[measure].mean.length)
    .map((one) => {
      const { mean, deviation } = one[measure];
      return {
        name: one.scheme,
        look: lookOf(one.scheme),
        x: mean.map((_, k) => k),
        y: mean,
        low: mean.map((value, k) => value - deviation[k]),
        high: mean.map((value, k) => value + deviation[k]),
      };
    });
}

/** One row per scheme with what it took and came to. */
export function schemeTable(job) {
  const head = ["scheme", "runs", "final accuracy", "aggregations to target", "datapoints to target", "datapoints moved", "useful of them", "cost", "against the plan"];
  const words = { as_predicted: "as predicted", less: "less arrived", more: "more arrived", nothing_predicted: "nothing predicted", pending: "pending" };
  return [
    head,
    ...job.schemes.map((one) => [
      one.scheme,
      `${one.runs} of ${one.runs_planned}`,
      one.accuracy.mean.at(-1) ?? null,
      one.aggregations_to_target ?? standing(job, one, "aggregations_to_target"),
      one.datapoints_to_target ?? standing(job, one, "datapoints_to_target"),
      ...["moved", "useful", "cost"].map((name) => (one.runs ? one[name] : null)),
      words[one.verdict.outcome],
    ]),
  ];
}
