// The closed loop: period by period, with the gradient norms that were observed.
import { planRequest } from "../actions.js";
import { exact, figure } from "../core/format.js";
import { joined, readDevices, readReports, writeReports } from "../core/loops.js";
import { replay } from "../core/replay.js";
import { shelve, takeOff } from "../core/keeping.js";
import { toHash } from "../core/settings.js";
import { call } from "../ui/api.js";
import { chart } from "../ui/chart.js";
import { button, choiceBox, facts, field, h, renew } from "../ui/dom.js";
import { announce, empty, loading, problem } from "../ui/notices.js";
import { labelOf, overlaid } from "../ui/overlays.js";
import { givenName, loadShelf, shelfList } from "../ui/shelf.js";
import { callKey, snippetBox } from "../ui/snippets.js";
import { listen, set, state, update } from "../ui/store.js";
import { tableOf } from "../ui/table.js";
import { keptFields } from "./plan.js";
import { chooseRun } from "./validate.js";

/** Show these periods; the slider goes to the end of the last. */
function tell(id, periods, reports, more = {}) {
  const plan = joined(periods, state.settings.sampler);
  const story = replay(state.network, state.schedule, plan);
  update({ loop: { id, periods, reports, plan, story, finished: periods.at(-1).state === "finished", ...more } });
  set({ run: id, norms: writeReports(reports), step: plan.steps.length });
  keepRun(id, periods[0]);
}

/** The address of a run is kept under a name, so that it is found again with its network. */
async function keepRun(id, { sampler, sample_size: size }) {
  if (!state.shelf) await loadShelf();
  const name = givenName(id) ?? `${sampler}, S = ${size}, ${state.origin}`;
  await shelve({ ...state.shelf.find((row) => row.id === id), id, kind: "run", name, network: state.settings.kept, hash: toHash({ ...state.settings, view: "loop", over: "" }) });
  await loadShelf();
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
    update({ loop: { tried: run, busy: true } });
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

const forget = (id) =>
  attempt(async () => {
    // One that the service has forgotten already is only taken off the list.
    await call("DELETE", `/v1/runs/${id}`).catch((error) => error.document?.status === 404 || Promise.reject(error));
    await takeOff(id);
    await loadShelf();
    if (state.loop?.id !== id) return;
    update({ loop: null });
    set({ run: "", norms: "", step: 0 });
  });

export function loopView(panel) {
  const controls = h("div");
  const heading = h("summary", {}, "Settings of the run");
  const wishes = h("details", { open: true }, heading, keptFields(["size", "horizon", "period", "norm", "noise", "draw"]));
  const outcome = h("div", { "aria-live": "polite" });
  const list = h("div");
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
    list,
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
  listen(["loop", "jobs", "job", "network", "overlaid"], show);
  const showList = () => {
    if (list.querySelector(".renaming")) return;
    const rows = (state.shelf ?? []).filter(({ kind }) => kind === "run").map((row) => ({ ...row, current: row.id === state.loop?.id }));
    renew(list, rows.length ? [h("h3", {}, "Runs of this browser"), shelfList(rows, { open: (row) => (location.hash = row.hash), over: Boolean(state.loop?.plan), remove: ({ id }) => forget(id) })] : []);
  };
  listen(["shelf", "loop"], showList);
  let before = "";
  listen(["settings"], () => {
    const now = `${state.settings.view} ${state.settings.over}`;
    if (now === before) return;
    before = now;
    if (state.settings.view === "loop" && !state.shelf) loadShelf();
    show();
    showList();
  });
  addEventListener("shade", show);
  // A link or Back may name another run.
  listen(["samplers", "network", "settings"], () => {
    const { run, norms, view } = state.settings;
    const known = state.loop?.id ?? state.loop?.tried ?? "";
    if (view !== "loop" || !state.network || !state.samplers.length || state.loop?.busy || run === known) return;
    if (run) resume(run, readReports(norms));
    else update({ loop: null });
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
    return [h("p", {}, "The horizon is reached."), h("div", { class: "row" }, button("Start another", begin, { id: "start-run" }), button("Forget this run", () => forget(loop.id), { class: "quiet" }))];
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
    h("div", { class: "row" }, button("Plan the next period", next, { class: "main", id: "next-period", disabled: Boolean(loop.busy) }), button("Forget this run", () => forget(loop.id), { class: "quiet" })),
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
  const table = [["k", "steps", "norm", "objective", "sent", "swaps"], ...rows];
  const curves = (steps, over = "", look = undefined) => {
    const x = steps.map(({ step }) => step);
    return [
      { name: `objective${over}`, look, x, y: steps.map(({ objective }) => objective) },
      { name: `gradient norm${over}`, look, x, y: steps.map(({ gradient_norm: norm }) => norm) },
    ];
  };
  const others = overlaid("run_").filter((run) => run.id !== id);
  const graph = chart({
    name: "run",
    caption: "Objective and gradient norm",
    about: "Objective and gradient norm over the steps planned so far",
    xLabel: "step t",
    yLabel: "",
    series: [...curves(plan.steps), ...others.flatMap((run) => curves(run.periods.flatMap(({ steps }) => steps), ` · ${labelOf(run)}`))],
    x: { from: 0, to: Math.max(first.horizon, ...others.map(({ horizon }) => horizon)) },
    from: 0,
    log: { label: "log scale" },
    table: [["step", "objective", "gradient norm"], ...plan.steps.map((step) => [step.step, step.objective, step.gradient_norm])],
    narrow: true,
  });
  return [
    facts([
      ["Run", `${id.slice(0, 12)}…`],
      ["Sampler", `${first.sampler}, S = ${first.sample_size}`],
      ["Steps", `T = ${first.horizon}, an aggregation every ${first.aggregation_period}`],
      ["Sampled now", periods.at(-1).sampled.join(", ")],
      ["Objective so far", exact(plan.objective)],
      ["Gap of each step", `≤ ${figure(plan.relative_gap)}`],
    ]),
    button("Validate this run", chooseRun, { class: "quiet", "data-key": "validate-run" }),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Periods" }, tableOf(table)),
    graph,
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
