// What a plan comes to, shown while no device is chosen.
import { figure, percent, plural } from "../core/format.js";
import { nthLook } from "../core/looks.js";
import { coverage } from "../core/measures.js";
import { nameOf } from "../core/network.js";
import { memberRows } from "../core/reasons.js";
import { HUES } from "../draw/palette.js";
import { covering } from "../draw/roles.js";
import { chart } from "./chart.js";
import { button, h } from "./dom.js";
import { shownPlan } from "../views/plans.js";
import { sideBySide } from "./sidebyside.js";
import { set } from "./store.js";

const total = (story, name) => story.frames.reduce((sum, { flows }) => sum + flows[name].reduce((a, b) => a + b, 0), 0);

/** {parts, mark}: the parts of the summary, and what moves their charts to a step. */
export function summary(network, story, plan) {
  const charts = [growth(network, plan, story), closeness(plan, story)];
  return {
    parts: [h("h3", {}, "The plan"), h("p", { class: "verdict" }, sentence(network, story, plan)), members(network, story), ...sideBySide(network, shownPlan()), ...charts],
    mark: (step) => charts.forEach((one) => one.place(step)),
  };
}

/** The plan in a few sentences. */
function sentence(network, story, plan) {
  const end = story.frames.length - 1;
  const [sent, useful] = [total(story, "datapoints"), total(story, "useful")];
  const choice = plan.set_gap === undefined ? "" : ` No other choice of ${plural(plan.sampled.length, "device")} has an objective more than ${percent(plan.set_gap)} lower.`;
  const flows = sent > 0 ? `In ${plural(end, "step")} others send them ${figure(sent)} datapoints, ${figure(useful)} of them new to the receiver.` : "Nothing is sent.";
  const shares = `They hold data like ${percent(coverage(network, story, 0))} of all data at first, and like ${percent(coverage(network, story, end))} at the end.`;
  return `${plan.sampled.length} of ${plural(network.n, "device")} train. ${flows} ${shares}${choice}`;
}

const SHOWN_MEMBERS = 30;

function members(network, story) {
  const rows = memberRows(network, story, covering(network, story, new Set(story.sampled)));
  const line = ({ device, first, received, last, covers }) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, button(nameOf(network, device), () => set({ device }), { class: "link", "aria-label": `Look at device ${nameOf(network, device)}` })),
      [`${figure(first)} → ${figure(last)}`, figure(received), String(covers)].map((cell) => h("td", {}, cell)),
    );
  const names = ["trains", "holds", "gets", "covers"];
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "Sampled devices" },
    h("table", {}, h("thead", {}, h("tr", {}, names.map((name) => h("th", { scope: "col" }, name)))), h("tbody", {}, rows.slice(0, SHOWN_MEMBERS).map(line))),
    rows.length > SHOWN_MEMBERS && h("p", { class: "muted" }, `and ${rows.length - SHOWN_MEMBERS} more`),
  );
}

// As many as there are colours of rims.
const SHOWN_LINES = HUES.light.length;

function growth(network, plan, story) {
  const steps = story.frames.map((_, t) => t);
  const name = (device) => (network.ids ? nameOf(network, device) : `device ${device}`);
  // The line of a device has the colour of its rim in the drawing.
  const hues = HUES[document.documentElement.dataset.shade];
  const more = plan.sampled.length > SHOWN_LINES ? ` (the first ${SHOWN_LINES})` : "";
  return chart({
    name: "data",
    caption: `Data held by the sampled devices${more}`,
    about: "Data held by the sampled devices over time",
    xLabel: "step t",
    yLabel: "datapoints D",
    series: plan.sampled.slice(0, SHOWN_LINES).map((device, i) => ({ name: name(device), look: { colour: hues[i], dash: nthLook(i).dash }, x: steps, y: story.frames.map((frame) => frame.data[i]) })),
    table: [["step", ...plan.sampled.map(name)], ...story.frames.map((frame, t) => [t, ...frame.data])],
    mark: 0,
    narrow: true,
  });
}

/** How similarity rises and the objective falls. */
function closeness(plan, story) {
  const steps = story.frames.map((_, t) => t);
  const shares = story.frames.map(({ similarity }) => similarity ?? 0);
  return chart({
    name: "similarity",
    caption: "Similarity and objective",
    about: "Similarity on links into the sampled devices, and the objective, over time",
    xLabel: "step t",
    yLabel: "",
    series: [
      { name: "mean similarity Λ", x: steps, y: shares },
      { name: "objective", x: plan.steps.map(({ step }) => step), y: plan.steps.map(({ objective }) => objective) },
    ],
    table: [["step", "mean similarity", "objective"], ...steps.map((t) => [t, shares[t], plan.steps[t - 1]?.objective ?? null])],
    mark: 0,
    narrow: true,
  });
}
