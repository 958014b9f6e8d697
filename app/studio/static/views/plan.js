// Plan, and what the plan comes to.
import { clearPlan, makePlan, planRequest, planWith } from "../actions.js";
import { exact, figure, percent } from "../core/format.js";
import { bindingAt } from "../core/gauges.js";
import { coverage, mixtureDistance } from "../core/measures.js";
import { samplerChoices } from "../core/samplers.js";
import { figureOf, lineChart } from "../ui/chart.js";
import { button, choiceBox, facts, field, h, numberBox } from "../ui/dom.js";
import { empty, loading, problem } from "../ui/notices.js";
import { callKey, snippetBox } from "../ui/snippets.js";
import { listen, set, state } from "../ui/store.js";

const NUMBERS = [
  ["size", "Devices to sample S", 1, 1000, 1],
  ["horizon", "Steps T", 1, 1000, 1],
  ["period", "Steps between aggregations τ", 1, 1000, 1],
  ["norm", "Gradient norm", 0, 1e12, "any"],
  ["decay", "Gradient decay α", 1, 1e6, "any"],
  ["noise", "Gradient noise γ", 0, 1e12, "any"],
  ["draw", "Seed of the sampler", 0, 2147483647, 1],
];

const TRANSFERS = [["send_once", "send once"], ["redraw", "redraw"]];

/** How to sample and solve: shared with the closed loop. */
export function planFields(names = NUMBERS.map(([name]) => name)) {
  const { settings, samplers } = state;
  const onset = (name) => (value) => planWith({ [name]: value });
  const choices = samplerChoices(samplers);
  const known = choices.length ? choices.map(({ name }) => name) : [settings.sampler].filter(Boolean);
  if (settings.sampler && !known.includes(settings.sampler)) known.push(settings.sampler);
  const about = choices.find(({ name }) => name === settings.sampler)?.description;
  return [
    field("Sampler", choiceBox({ name: "sampler", value: settings.sampler, options: known.map((name) => [name, name]), onset: onset("sampler") }), about),
    ...NUMBERS.filter(([name]) => names.includes(name)).map(([name, label, min, max, step]) =>
      field(label, numberBox({ name, value: settings[name], min, max, step, onset: onset(name) })),
    ),
    field("Solver", choiceBox({ name: "solver", value: settings.solver, options: [["fast", "fast"], ["cvxpy", "cvxpy (reference)"]], onset: onset("solver") })),
    field(
      "Over a link used before",
      choiceBox({ name: "transfer", value: settings.transfer, options: TRANSFERS, onset: onset("transfer") }),
      "Send once: a device never repeats itself. Redraw: as in the paper, eq. (8).",
    ),
  ];
}

/** Fields that follow the settings, but are not rebuilt under the person's hands. */
export function keptFields(names) {
  const fields = h("div", { class: "fields" });
  let before;
  const show = () => {
    const { settings, samplers } = state;
    const now = JSON.stringify([samplers.length, settings.sampler, ...NUMBERS.map(([name]) => settings[name]), settings.solver, settings.transfer]);
    if (now === before) return;
    before = now;
    const focused = document.activeElement;
    const name = fields.contains(focused) ? focused.name : null;
    fields.replaceChildren(...planFields(names));
    if (name) fields.querySelector(`[name=${name}]`)?.focus();
  };
  listen(["settings", "samplers"], show);
  show();
  return fields;
}

export function planView(panel) {
  const outcome = h("div", { "aria-live": "polite" });
  const now = h("div");
  const calls = snippetBox(
    () => [{ method: "POST", path: "/v1/plans", body: planRequest(), file: "request.json" }],
    () => callKey(state),
  );
  listen(["network", "settings"], calls.refresh);
  panel.append(
    h("h2", {}, "Plan"),
    keptFields(),
    h("div", { class: "row" }, button("Plan", () => makePlan(), { class: "main", id: "plan-button" }), button("Clear", clearPlan, { class: "quiet" })),
    outcome,
    now,
    calls.box,
  );
  let chart = null;
  const showOutcome = () => {
    const { plan, story, planning, planError, network } = state;
    chart = null;
    if (planError) return outcome.replaceChildren(problem(planError));
    if (!plan) return outcome.replaceChildren(planning ? loading("Planning") : empty("Not planned yet", "Plan to see who trains and which data flows."));
    chart = [growth(plan, story), closeness(plan, story)];
    return outcome.replaceChildren(totals(plan, story, network), ...chart.map(({ figure: made }) => made));
  };
  listen(["plan", "story", "planning", "planError"], showOutcome);
  addEventListener("shade", showOutcome);
  listen(["story", "settings", "plan"], () => {
    const { story, settings, network } = state;
    if (settings.view !== "plan") return;
    if (!story) return now.replaceChildren();
    const step = Math.min(settings.step, story.frames.length - 1);
    for (const one of chart ?? []) one.mark(step);
    return now.replaceChildren(binding(network, story, step));
  });
  showOutcome();
}

function totals(plan, story, network) {
  const end = story.frames.length - 1;
  const solved = Object.entries(plan.timing_ms).map(([name, ms]) => `${name} ${figure(ms)}`).join(", ");
  const mixture = mixtureDistance(network, story, end);
  return facts([
    ["Status", plan.status],
    plan.sampler_status !== undefined && ["Sampler", plan.sampler_status, "complete: the search came to its own end; time_limit: the best set found in time"],
    ["Sampled", h("span", {}, plan.sampled.map((device) => button(String(device), () => set({ device }), { class: "link", "aria-label": `Sampled device ${device}` })))],
    ["Objective", exact(plan.objective), "Mean over the steps"],
    ["(a) unsampled data", exact(plan.sampling_term)],
    ["(b) finite data", exact(plan.statistical_term)],
    ["Gap to the optimum", `≤ ${figure(plan.relative_gap)}`, "Of each step, for the devices sampled"],
    plan.set_gap !== undefined && ["Gap to the best choice", `≤ ${figure(plan.set_gap)}`, "By this share at most could other devices have a lower objective"],
    ["Worst violation", figure(plan.max_violation)],
    ["Datapoints sent", figure(total(story, "datapoints")), "Over all links and steps"],
    ["Useful", figure(total(story, "useful")), "Of the datapoints sent, those new to their receiver"],
    ["Coverage", `${percent(coverage(network, story, 0))} → ${percent(coverage(network, story, end))}`, "Share of all data that the sampled devices hold or cover"],
    mixture !== null && ["Mixture distance", `${figure(mixtureDistance(network, story, 0))} → ${figure(mixture)}`, "Between the sampled devices' labels and the network's"],
    ["Milliseconds", solved],
  ]);
}

const total = (story, name) => story.frames.reduce((sum, { flows }) => sum + flows[name].reduce((a, b) => a + b, 0), 0);

const SHOWN_LINES = 7;

function growth(plan, story) {
  const steps = story.frames.map((_, t) => t);
  const series = plan.sampled.slice(0, SHOWN_LINES).map((device, i) => ({ name: `device ${device}`, x: steps, y: story.frames.map((frame) => frame.data[i]) }));
  const svg = lineChart({ title: "Data held by the sampled devices over time", xLabel: "step t", yLabel: "datapoints D", series, mark: 0, narrow: true });
  const head = ["step", ...plan.sampled.map((device) => `device ${device}`)];
  const table = [head, ...story.frames.map((frame, t) => [t, ...frame.data])];
  const more = plan.sampled.length > SHOWN_LINES ? ` (the first ${SHOWN_LINES})` : "";
  return { figure: figureOf(svg, `Data held by the sampled devices${more}`, table, "data"), mark: svg.place };
}

/** How similarity rises and the objective falls. */
function closeness(plan, story) {
  const steps = story.frames.map((_, t) => t);
  const shares = story.frames.map(({ similarity }) => similarity ?? 0);
  const series = [
    { name: "mean similarity Λ", x: steps, y: shares },
    { name: "objective", x: plan.steps.map(({ step }) => step), y: plan.steps.map(({ objective }) => objective) },
  ];
  const title = "Similarity on links into the sampled devices, and the objective, over time";
  const svg = lineChart({ title, xLabel: "step t", yLabel: "", series, mark: 0, narrow: true });
  const table = [["step", "mean similarity", "objective"], ...steps.map((t) => [t, shares[t], plan.steps[t - 1]?.objective ?? null])];
  return { figure: figureOf(svg, "Similarity and objective", table, "similarity"), mark: svg.place };
}

const SHOWN_BINDING = 24;

function binding(network, story, step) {
  const found = bindingAt(network, story, step);
  const shown = found.slice(0, SHOWN_BINDING);
  return h(
    "div",
    {},
    h("h3", {}, `Binding at t = ${step} (${found.length})`),
    found.length === 0 && h("p", { class: "muted" }, "No budget is used up."),
    h(
      "ul",
      { class: "chips" },
      shown.map(({ device, name }) => h("li", {}, button(`${device} ${name}`, () => set({ device }), { class: "chip", "aria-label": `Device ${device}: ${name} binds` }))),
    ),
    found.length > shown.length && h("p", { class: "muted" }, `and ${found.length - shown.length} more`),
  );
}
