// A validation's request, and its results as tables.
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
      one.aggregations_to_target ?? null,
      one.datapoints_to_target ?? null,
      one.moved,
      one.useful,
      one.cost,
      words[one.verdict.outcome],
    ]),
  ];
}
