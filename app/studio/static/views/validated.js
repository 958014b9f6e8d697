// What a validation measured, as it grows.
import { ENDED, curveSeries, curveTable, overSeries, schemeTable, standing } from "../core/experiments.js";
import { lookOf } from "../core/looks.js";
import { bars, chart } from "../ui/chart.js";
import { button, facts, h, renew, save } from "../ui/dom.js";
import { empty, loading, problem } from "../ui/notices.js";
import { labelOf, overlaid } from "../ui/overlays.js";
import { listen, state } from "../ui/store.js";
import { csv, tableOf } from "../ui/table.js";
import { cancel } from "./validate.js";

export function validatePanel(panel) {
  const show = () => {
    if (state.settings.view !== "validate") return;
    const { job, jobError, starting } = state;
    renew(
      panel,
      [
        jobError && problem(jobError),
        starting && loading("Starting"),
        !job && !starting && !jobError && empty("No validation open", "Start one on the left, or open a past one."),
        job && heading(job),
        job?.failure && problem({ document: { title: "It failed", detail: `${job.failure.detail} (${job.failure.scheme}, seed ${job.failure.seed})` } }),
        job && job.schemes.some((one) => one.accuracy.mean.length) ? results(job) : job && !ENDED.has(job.state) && loading(job.state === "queued" ? "Waiting for a worker to take it (`fedsift worker` starts one)" : "Waiting for the first round"),
      ].filter(Boolean),
    );
  };
  let before = {};
  listen(["job", "overlaid", "shelf", "jobError", "starting", "settings"], () => {
    const now = { job: state.job, over: state.overlaid, laid: state.settings.over, names: state.shelf, error: state.jobError, starting: state.starting, view: state.settings.view };
    if (Object.keys(now).every((name) => now[name] === before[name])) return;
    before = now;
    show();
  });
  addEventListener("shade", show);
}

function heading(job) {
  const left = job.seconds_left === undefined ? "" : `, about ${Math.ceil(job.seconds_left)} s left`;
  const busy = !ENDED.has(job.state);
  return h(
    "div",
    { class: "card" },
    h("h2", {}, labelOf(job)),
    facts([
      ["State", h("span", { id: "job-state", "data-job": job.id }, `${job.state}${busy ? left : ""}`)],
      ["Trained on", `${job.data_set}, ${job.sample_size} devices sampled, ${job.aggregations} aggregations of ${job.aggregation_period} steps`],
      ["Runs done", `${job.parts_done} of ${job.parts}`],
    ]),
    h("progress", { max: 1, value: job.progress, "aria-label": "Progress" }),
    h(
      "div",
      { class: "row" },
      busy && button("Cancel", cancel, { id: "cancel-validation", disabled: job.state === "cancelling" }),
      button("All results as CSV", () => save(`${job.id}.csv`, csv(schemeTable(job)), "text/csv"), { class: "quiet" }),
      button("As JSON", () => save(`${job.id}.json`, JSON.stringify(job, null, 1)), { class: "quiet" }),
    ),
  );
}

/** The validations laid over the open one. */
const others = (job) => overlaid("val_").filter((one) => one.id !== job.id).map((one) => ({ job: one, label: labelOf(one) }));

function explained(job) {
  const runs = Math.max(...job.schemes.map((one) => one.runs_planned));
  const means = runs > 1 ? `Means over up to ${runs} runs; bands are one standard deviation wide on each side.` : "One run of each scheme: chance alone can order them.";
  const open = ENDED.has(job.state) ? "" : " An open dot: the scheme is still running.";
  return `${means} Solid lines send data, dashed ones do not.${others(job).length ? " Lines with names behind a dot (·) are laid over." : ""}${open}`;
}

function results(job) {
  const lines = (measure, caption, more = {}) =>
    h(
      "div",
      { class: "card" },
      chart({
        name: measure,
        caption,
        about: `${caption} by scheme`,
        xLabel: "aggregation k",
        yLabel: measure.replace("_", " "),
        series: [...curveSeries(job, measure), ...overSeries(others(job), measure)],
        x: { from: 0, to: job.aggregations },
        table: curveTable(job, measure),
        note: explained(job),
        ...more,
      }),
    );
  const figures = (key, caption) => {
    const rows = job.schemes.map((one) => ({ name: one.scheme, value: one.runs ? (one[key] ?? null) : null, text: standing(job, one, key), look: lookOf(one.scheme) }));
    return h("div", { class: "card" }, bars({ name: key, caption, about: `${caption} by scheme`, xLabel: caption, rows, table: [["scheme", caption], ...rows.map(({ name, value }) => [name, value])] }));
  };
  return h(
    "div",
    {},
    h(
      "div",
      { class: "cards" },
      lines("accuracy", "Accuracy after each aggregation", { target: job.target, log: { label: "1 − accuracy, log scale", value: (accuracy) => 1 - accuracy } }),
      lines("loss", "Loss after each aggregation", { log: { label: "loss, log scale" } }),
      figures("aggregations_to_target", `Aggregations to an accuracy of ${job.target}`),
      figures("datapoints_to_target", `Datapoints processed to an accuracy of ${job.target}`),
      figures("moved", "Datapoints moved"),
      lines("gradient_norm", "Gradient norm as measured", { from: 0, log: { label: "gradient norm, log scale" } }),
    ),
    h("div", { class: "wide-table", tabindex: "0", role: "region", "aria-label": "Results by scheme" }, tableOf(schemeTable(job))),
  );
}
