// The closed loop: period by period, with the gradient norms that were observed.
import { planRequest } from "../actions.js";
import { exact, figure } from "../core/format.js";
import { joined, readDevices, readReports, writeReports } from "../core/loops.js";
import { replay } from "../core/replay.js";
import { call } from "../ui/api.js";
import { figureOf, lineChart, tableOf } from "../ui/chart.js";
import { button, choiceBox, facts, field, h, renew } from "../ui/dom.js";
import { announce, empty, loading, problem } from "../ui/notices.js";
import { callKey, snippetBox } from "../ui/snippets.js";
import { listen, set, state, update } from "../ui/store.js";
import { keptFields } from "./plan.js";

/** Show these periods; the slider goes to the end of the last. */
function tell(id, periods, reports, more = {}) {
  const plan = joined(periods, state.settings.sampler);
  const story = replay(state.network, state.schedule, plan);
  update({ loop: { id, periods, reports, plan, story, finished: periods.at(-1).state === "finished", ...more } });
  set({ run: id, norms: writeReports(reports), step: plan.steps.length });
}

async function attempt(work) {
  update({ loop: { ...(state.loop ?? {}), busy: true, error: null } });
  try {
    await work();
  } catch (error) {
    update({ loop: { ...state.loop, error } });
  }
  if (state.loop?.busy) update({ loop: { ...state.loop, busy: false } });
}

const begin = () =>
  attempt(async () => {
    const first = await call("POST", "/v1/runs", planRequest());
    tell(first.id, [first], []);
    announce(`Run started, ${first.steps.length} steps planned`);
  });

/** Tell of the next aggregations, one report each. */
const go = (reports) =>
  attempt(async () => {
    for (const { norm, lost } of reports) {
      const { id, periods, reports: before, finished } = state.loop;
      if (finished) break;
      const next = { aggregation: periods.length, gradient_norm: norm, ...(lost.length ? { lost } : {}) };
      const period = await call("POST", `/v1/runs/${id}/aggregations`, next);
      tell(id, [...periods, period], [...before, { norm, lost }], { busy: true });
      const swaps = period.replaced.map(swapped).join(", ");
      announce(`Aggregation ${next.aggregation} told, steps up to ${period.steps.at(-1).step} planned${swaps && `; ${swaps}`}`);
    }
  });

const swapped = ({ lost, by }) => `${lost ?? "–"} → ${by ?? "–"}`;

/** A link names a run: show it, or do the same again where it is not known. */
const resume = (run, reports) =>
  attempt(async () => {
    try {
      const { aggregation } = await call("GET", `/v1/runs/${run}`);
      const known = Math.min(aggregation, reports.length);
      const periods = [];
      for (let k = 0; k <= known; k += 1) periods.push(await call("GET", `/v1/runs/${run}/aggregations/${k}`));
      tell(run, periods, reports.slice(0, known));
    } catch (error) {
      if (error.document?.status !== 404) throw error;
      const first = await call("POST", "/v1/runs", planRequest());
      tell(first.id, [first], []);
      await go(reports);
    }
  });

const forget = () =>
  attempt(async () => {
    await call("DELETE", `/v1/runs/${state.loop.id}`);
    update({ loop: null });
    set({ run: "", norms: "", step: 0 });
  });

export function loopView(panel) {
  const controls = h("div");
  const heading = h("summary", {}, "Settings of the run");
  const wishes = h("details", { open: true }, heading, keptFields(["size", "horizon", "period", "norm", "noise", "draw"]));
  const outcome = h("div", { "aria-live": "polite" });
  const calls = snippetBox(
    () => requests(state.loop),
    () => callKey(state, state.loop?.id, state.loop?.reports),
  );
  listen(["network", "settings", "loop"], calls.refresh);
  panel.append(
    h("h2", {}, "Closed loop"),
    h("p", { class: "muted" }, "Each aggregation measures a gradient norm and may lose devices; the next period is planned with that."),
    wishes,
    controls,
    outcome,
    calls.box,
  );
  let running = false;
  const show = () => {
    const { loop, settings } = state;
    if (settings.view !== "loop") return;
    const focused = controls.contains(document.activeElement) ? document.activeElement.name || document.activeElement.id : "";
    heading.textContent = loop?.plan ? "Settings of the next run" : "Settings of the run";
    if (Boolean(loop?.plan) !== running) wishes.open = !loop?.plan;
    running = Boolean(loop?.plan);
    controls.replaceChildren(...buttons(loop));
    if (focused) controls.querySelector(`[name="${focused}"], #${focused}`)?.focus();
    renew(outcome, [...(loop?.error ? [problem(loop.error)] : []), ...(loop?.plan ? told(loop) : [empty("No run yet", "Start one to plan the first period.")])]);
  };
  listen(["loop", "jobs", "job", "network"], show);
  let view = "";
  listen(["settings"], () => {
    if (state.settings.view !== view) {
      view = state.settings.view;
      show();
    }
  });
  addEventListener("shade", show);
  listen(["samplers", "network"], () => {
    const { run, norms, view: now } = state.settings;
    if (run && now === "loop" && !state.loop && state.network && state.samplers.length) resume(run, readReports(norms));
  });
}

// What was typed and not yet sent: live updates must not take it away.
let typed = {};

function buttons(loop) {
  if (!loop?.plan) {
    return [h("div", { class: "row" }, button("Start the run", begin, { class: "main", id: "start-run", disabled: Boolean(loop?.busy) })), loop?.busy ? loading("Planning") : ""];
  }
  const k = loop.periods.length;
  if (loop.finished) {
    return [h("p", {}, "The horizon is reached."), h("div", { class: "row" }, button("Start another", begin, { id: "start-run" }), button("Forget this run", forget, { class: "quiet" }))];
  }
  const expected = loop.plan.steps.at(-1).gradient_norm;
  const box = h("input", { type: "number", name: "observed", min: 0, step: "any", value: typed.observed ?? "", required: true });
  const lost = h("input", { type: "text", name: "lost", pattern: "[0-9, ]*", autocomplete: "off", value: typed.lost ?? "" });
  const next = () => {
    if (!box.reportValidity() || !lost.reportValidity()) return;
    const report = { norm: Number(box.value), lost: readDevices(lost.value) };
    typed = {};
    go([report]);
  };
  for (const one of [box, lost]) {
    one.addEventListener("input", () => (typed[one.name] = one.value));
    one.addEventListener("keydown", (event) => event.key === "Enter" && next());
  }
  return [
    field(`Gradient norm observed at aggregation ${k}`, box, `Measure it at step ${loop.plan.steps.length}. The plan expects ${figure(expected)} there.`),
    field("Devices lost since", lost, `Numbers; ${loop.periods.at(-1).sampled.join(", ")} train now. Others take their places.`),
    h("div", { class: "row" }, button("Plan the next period", next, { class: "main", id: "next-period", disabled: Boolean(loop.busy) }), button("Forget this run", forget, { class: "quiet" })),
    fromValidation(loop),
  ];
}

/** Norms that a validation measured, scheme by scheme. */
function fromValidation(loop) {
  const schemes = (state.job?.schemes ?? []).filter(({ gradient_norm }) => gradient_norm?.mean.length > 1);
  if (!schemes.length) return h("p", { class: "muted" }, "Norms can also come from a validation: open one in that view.");
  const scheme = choiceBox({ name: "scheme", value: schemes[0].scheme, options: schemes.map((one) => [one.scheme, one.scheme]), onset: () => {} });
  const use = () => {
    const { mean } = schemes.find((one) => one.scheme === scheme.value).gradient_norm;
    return go(mean.slice(loop.periods.length).map((norm) => ({ norm, lost: [] })));
  };
  return h("div", {}, field("Norms measured by the open validation", scheme), button("Go on with these", use, { id: "use-norms" }));
}

function told({ plan, periods, reports, id }) {
  const [first] = periods;
  const rows = periods.map((period, k) => [
    k,
    `${period.steps[0].step}–${period.steps.at(-1).step}`,
    k === 0 ? "–" : reports[k - 1].norm,
    exact(period.objective),
    period.steps.reduce((sum, step) => sum + step.transfers.datapoints.reduce((a, b) => a + b, 0), 0),
    (period.replaced ?? []).map(swapped).join(", ") || "–",
  ]);
  const table = [["k", "steps", "norm", "objective", "sent", "replaced"], ...rows];
  const x = plan.steps.map(({ step }) => step);
  const series = [
    { name: "objective", x, y: plan.steps.map(({ objective }) => objective) },
    { name: "gradient norm", x, y: plan.steps.map(({ gradient_norm }) => gradient_norm) },
  ];
  const svg = lineChart({ title: "Objective and gradient norm over the steps planned so far", xLabel: "step t", yLabel: "", series, from: 0, narrow: true });
  const numbers = [["step", "objective", "gradient norm"], ...plan.steps.map((step) => [step.step, step.objective, step.gradient_norm])];
  return [
    facts([
      ["Run", `${id.slice(0, 12)}…`],
      ["Sampler", `${first.sampler}, S = ${first.sample_size}`],
      ["Steps", `T = ${first.horizon}, an aggregation every ${first.aggregation_period}`],
      ["Sampled now", periods.at(-1).sampled.join(", ")],
      ["Objective so far", exact(plan.objective)],
      ["Gap to the optimum", `≤ ${figure(plan.relative_gap)}`],
    ]),
    tableOf(table),
    figureOf(svg, "Objective and gradient norm", numbers, "run"),
  ];
}

function requests(loop) {
  const made = [{ method: "POST", path: "/v1/runs", body: planRequest(), file: "request.json", note: "The first period; the answer's `run` is the id below." }];
  (loop?.reports ?? []).forEach(({ norm, lost }, i) => {
    const body = { aggregation: i + 1, gradient_norm: norm, ...(lost.length ? { lost } : {}) };
    made.push({ method: "POST", path: `/v1/runs/${loop.id}/aggregations`, body, file: "aggregation.json" });
  });
  return made;
}
