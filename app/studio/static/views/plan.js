// Plan, and what the plan comes to.
import { clearPlan, makePlan, planRequest, planWith } from "../actions.js";
import { exact, figure, percent } from "../core/format.js";
import { bindingAt } from "../core/gauges.js";
import { coverage, mixtureDistance } from "../core/measures.js";
import { nameOf } from "../core/network.js";
import { samplerChoices } from "../core/samplers.js";
import { button, choiceBox, facts, field, h, numberBox, renew } from "../ui/dom.js";
import { empty, loading, problem } from "../ui/notices.js";
import { callKey, snippetBox } from "../ui/snippets.js";
import { listen, set, state } from "../ui/store.js";
import { planShelf } from "./plans.js";

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

/** How to sample and solve: shared with the closed loop, and without `own` sampler and solver with comparisons. */
export function planFields(names = NUMBERS.map(([name]) => name), own = true) {
  const { settings, samplers } = state;
  const onset = (name) => (value) => planWith({ [name]: value });
  const choices = samplerChoices(samplers);
  const known = choices.length ? choices.map(({ name }) => name) : [settings.sampler].filter(Boolean);
  if (settings.sampler && !known.includes(settings.sampler)) known.push(settings.sampler);
  const away = state.samplersError && "The service did not list its samplers; it is asked again.";
  const about = choices.find(({ name }) => name === settings.sampler)?.description ?? away;
  return [
    own && field("Sampler", choiceBox({ name: "sampler", value: settings.sampler, options: known.map((name) => [name, name]), onset: onset("sampler") }), about),
    ...NUMBERS.filter(([name]) => names.includes(name)).map(([name, label, min, max, step]) =>
      field(label, numberBox({ name, value: settings[name], min, max, step, onset: onset(name) })),
    ),
    own && field("Solver", choiceBox({ name: "solver", value: settings.solver, options: [["fast", "fast"], ["cvxpy", "cvxpy (reference)"]], onset: onset("solver") })),
    field(
      "Sending",
      choiceBox({ name: "transfer", value: settings.transfer, options: TRANSFERS, onset: onset("transfer") }),
      "Send once: no datapoint goes over the same link twice. Redraw: it may, as in the paper, eq. (8).",
    ),
  ].filter(Boolean);
}

/** Fields that follow the settings, but are not rebuilt under the person's hands. */
export function keptFields(names, own) {
  const fields = h("div", { class: "fields" });
  let before;
  const show = () => {
    const { settings, samplers } = state;
    const now = JSON.stringify([samplers.length, Boolean(state.samplersError), settings.sampler, ...NUMBERS.map(([name]) => settings[name]), settings.solver, settings.transfer]);
    if (now === before) return;
    before = now;
    const focused = document.activeElement;
    const name = fields.contains(focused) ? focused.name : null;
    fields.replaceChildren(...planFields(names, own));
    if (name) fields.querySelector(`[name=${name}]`)?.focus();
  };
  listen(["settings", "samplers", "samplersError"], show);
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
    planShelf(),
    calls.box,
  );
  const showOutcome = () => {
    const { plan, story, planning, planError, networkError, network } = state;
    const failed = [networkError, planError].filter(Boolean).map(problem);
    if (failed.length && !plan) return outcome.replaceChildren(...failed);
    if (failed.length) failed.push(h("p", { class: "muted" }, "Below and in the drawing is the last plan, made before this failed."));
    if (!plan) return outcome.replaceChildren(planning ? loading("Planning") : empty("Not planned yet", "Plan to see who trains and which data flows."));
    return renew(outcome, [...failed, totals(plan, story, network)]);
  };
  listen(["plan", "story", "planning", "planError", "networkError"], showOutcome);
  listen(["story", "settings", "plan"], () => {
    const { story, settings, network } = state;
    if (settings.view !== "plan") return;
    if (!story) return now.replaceChildren();
    const step = Math.min(settings.step, story.frames.length - 1);
    return now.replaceChildren(binding(network, story, step));
  });
  showOutcome();
}

function totals(plan, story, network) {
  const end = story.frames.length - 1;
  const solved = Object.entries(plan.timing_ms).map(([name, ms]) => `${name} ${figure(ms)}`).join(", ");
  const mixture = mixtureDistance(network, story, end);
  return facts([
    ["Status", plan.status, "optimal: no plan for these devices is better; step_optimal: each step by itself is optimal"],
    plan.sampler_status !== undefined && ["Sampler", plan.sampler_status, "complete: the search came to its own end; time_limit: the best set found in time"],
    ["Sampled", h("span", {}, plan.sampled.map((device) => button(nameOf(network, device), () => set({ device }), { class: "link", "aria-label": `Sampled device ${nameOf(network, device)}` })))],
    ["Objective", exact(plan.objective), "Mean over the steps"],
    ["(a) unsampled data", exact(plan.sampling_term)],
    ["(b) finite data", exact(plan.statistical_term)],
    ["Gap of each step", `≤ ${figure(plan.relative_gap)}`, "To its own optimum, for the devices sampled"],
    ["Gap of all steps", `≤ ${figure(plan.horizon_gap)}`, "To the best plan of all steps together, for the devices sampled"],
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
      shown.map(({ device, name }) => h("li", {}, button(`${nameOf(network, device)} ${name}`, () => set({ device }), { class: "chip", "aria-label": `Device ${nameOf(network, device)}: ${name} binds` }))),
    ),
    found.length > shown.length && h("p", { class: "muted" }, `and ${found.length - shown.length} more`),
  );
}
