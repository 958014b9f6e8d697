// A validation's request, and its results as tables.
import { figure, percent } from "./format.js";
import { lookOf } from "./looks.js";
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
export function validationRequest(form, { network, schedule, plan, loop, settings }) {
  const seeds = Array.from({ length: form.seeds }, (_, i) => i);
  const common = {
    data_set: form.data_set,
    schemes: form.schemes,
    seeds,
    draws: form.draws,
    target: form.target,
    labels_per_device: settings.labels,
    ...(form.name ? { name: form.name } : {}),
  };
  // A plan brings its own sizes along.
  if (form.source === "run") return { source: { kind: "run", id: loop.id }, ...common };
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

/** Where a scheme stands that has not ended all its runs; nothing of one that has. */
function stage(job, { runs, runs_planned: planned, accuracy }) {
  if (runs >= planned) return "";
  const begun = accuracy.mean.length > 0;
  if (ENDED.has(job.state)) return begun ? `stopped after ${runs} of ${planned} runs` : "not begun, stopped";
  return begun ? `running, ${runs} of ${planned} runs done` : "not begun";
}

/** Lines with a band of one deviation; a scheme that has not begun has a name and no line. */
export function curveSeries(job, measure) {
  return job.schemes.map((one) => {
    const { mean, deviation } = one[measure];
    const note = stage(job, one);
    return {
      name: one.scheme,
      look: lookOf(one.scheme),
      note,
      growing: note !== "" && !ENDED.has(job.state),
      x: mean.map((_, k) => k),
      y: mean,
      low: mean.map((value, k) => value - deviation[k]),
      high: mean.map((value, k) => value + deviation[k]),
    };
  });
}

// One for each validation that is laid over.
const OVER = ["1.5 3", "10 3 1.5 3", "4 2", "12 3 3 3"];

/** The curves of validations laid over: without bands, each with a dash of its own. `others` are {job, label}. */
export const overSeries = (others, measure) =>
  others.flatMap(({ job, label }, i) =>
    curveSeries(job, measure)
      .filter(({ y }) => y.length)
      .map(({ name, x, y, look, note, growing }) => ({ name: `${name} · ${label}`, x, y, note, growing, look: { ...look, dash: OVER[i % OVER.length] } })),
  );

/** The service's verdict on what arrived, in the words of `fedsift validate`. */
export function verdictText({ outcome, relative_error: error }) {
  const words = outcome.replaceAll("_", " ");
  return error === undefined ? words : `${words} (${error < 0 ? "−" : "+"}${percent(Math.abs(error))})`;
}

/** One row per scheme with what it took and came to. */
export function schemeTable(job) {
  const head = ["scheme", "runs", "final accuracy", "aggregations to target", "datapoints to target", "datapoints moved", "useful of them", "cost", "useful, as predicted?"];
  return [
    head,
    ...job.schemes.map((one) => [
      one.scheme,
      `${one.runs} of ${one.runs_planned}${one.diverged ? `, ${one.diverged} diverged` : ""}`,
      one.accuracy.mean.at(-1) ?? null,
      one.aggregations_to_target ?? standing(job, one, "aggregations_to_target"),
      one.datapoints_to_target ?? standing(job, one, "datapoints_to_target"),
      ...["moved", "useful", "cost"].map((name) => (one.runs ? one[name] : null)),
      verdictText(one.verdict),
    ]),
  ];
}
