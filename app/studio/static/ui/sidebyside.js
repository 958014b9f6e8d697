// The plan shown beside kept ones: their objectives over time, their numbers, and small drawings.
import { exact, figure, percent } from "../core/format.js";
import { nthLook } from "../core/looks.js";
import { replay } from "../core/replay.js";
import { drawMinimap } from "../draw/minimap.js";
import { chart } from "./chart.js";
import { h } from "./dom.js";
import { overlaid } from "./overlays.js";
import { state } from "./store.js";
import { tableOf } from "./table.js";

const ROWS = [
  ["objective", ({ plan }) => exact(plan.objective)],
  ["sampler", ({ plan }) => plan.sampler ?? "–"],
  ["S", ({ plan }) => String(plan.sampled.length)],
  ["steps", ({ plan }) => String(plan.steps.length)],
  ["sent", ({ sent }) => figure(sent)],
  ["useful", ({ useful }) => figure(useful)],
  ["covered", ({ covered }) => percent(covered)],
];

/** The parts of the summary that set plans side by side; none if no plan is laid over. `shown` is {name, plan, maker, …}. */
export function sideBySide(network, shown) {
  const others = overlaid("plan-").filter(({ id }) => id !== shown.id);
  if (!others.length) return [];
  const all = [shown, ...others];
  const series = all.map(({ name, plan }, i) => ({ name, look: nthLook(i), x: plan.steps.map(({ step }) => step), y: plan.steps.map(({ objective }) => objective) }));
  const steps = Math.max(...all.map(({ plan }) => plan.steps.length));
  const lines = chart({
    name: "plans",
    caption: "Objective of each plan",
    about: "Objective of the plans side by side, over time",
    xLabel: "step t",
    yLabel: "objective",
    series,
    x: { from: 0, to: steps },
    table: [["step", ...all.map(({ name }) => name)], ...Array.from({ length: steps }, (_, t) => [t + 1, ...all.map(({ plan }) => plan.steps[t]?.objective ?? null)])],
    narrow: true,
  });
  const numbers = [["", ...all.map(({ name }) => name)], ...ROWS.map(([label, cell]) => [label, ...all.map(cell)])];
  const strange = others.some(({ maker }) => maker !== shown.maker);
  return [
    h("h3", {}, "Side by side"),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Plans side by side" }, tableOf(numbers)),
    strange && h("p", { class: "muted" }, "Plans of other networks are in the numbers alone."),
    lines,
    h("div", { class: "pair" }, all.filter(({ maker }) => maker === shown.maker).map((one) => small(network, one))),
  ].filter(Boolean);
}

function small(network, { name, plan }) {
  const canvas = h("canvas", { class: "minimap", role: "img", "aria-label": `Devices sampled by ${name}, and what flows at step 1` });
  const story = replay(network, state.schedule, plan);
  // It has no size before it is on the page.
  requestAnimationFrame(() => state.places && drawMinimap(canvas, network, state.places, story, 1, document.documentElement.dataset.shade));
  return h("figure", {}, h("figcaption", {}, name), canvas);
}
