// What a comparison came to: a table to sort, what more devices are worth, and what a lower objective costs.
import { makePlan } from "../actions.js";
import { baselineOf, baselineSampler, difference, groupsOf, needed, sizeCurves, tradeOff } from "../core/comparison.js";
import { exact, figure, percent, plural } from "../core/format.js";
import { chart } from "../ui/chart.js";
import { button, choiceBox, h, renew, save } from "../ui/dom.js";
import { empty, loading, problem } from "../ui/notices.js";
import { listen, set, state, update } from "../ui/store.js";
import { csv, sortHead, sorted } from "../ui/table.js";

export function comparePanel(panel) {
  const show = () => {
    if (state.settings.view !== "compare") return;
    const { answer, busy, error } = state.compared ?? {};
    renew(
      panel,
      [
        error && problem(error),
        busy > 0 && loading(`Comparing ${plural(busy, "plan")}`),
        !answer && !busy && !error && empty("Nothing compared yet", "Choose samplers on the left and press Compare. Each plans for the same network."),
        ...(answer ? compared(answer) : []),
      ].filter(Boolean),
    );
  };
  let before = [];
  listen(["compared", "settings", "sort"], () => {
    const { view, baseline } = state.settings;
    const now = [state.compared, state.sort, view, baseline];
    if (now.some((value, i) => value !== before[i])) show();
    before = now;
  });
  addEventListener("shade", show);
}

function compared(answer) {
  const groups = groupsOf(answer);
  const several = (name) => new Set(groups.map((one) => one[name])).size > 1;
  const late = answer.rows.filter((row) => row.state === "not_reached").length;
  const cut = groups.reduce((sum, one) => sum + one.cut, 0);
  const wide = { sizes: several("sample_size"), scales: several("budget_scale"), joules: groups.some(({ joules }) => joules) };
  const charts = [
    wide.sizes && sizeChart(groups),
    groups.length > 1 && tradeChart(groups, "datapoints_sent", "datapoints sent"),
    wide.joules && groups.length > 1 && tradeChart(groups, "joules", "joules"),
  ].filter(Boolean).map((one) => h("div", { class: "card" }, one));
  return [
    late > 0 && h("p", { class: "notice bad", role: "alert" }, `The service's time was over before ${late} of ${answer.rows.length} plans. Ask for fewer samplers, sizes or seeds.`),
    cut > 0 && h("p", { class: "notice" }, `The time limit cut ${plural(cut, "plan")} short: more time might give a lower objective.`),
    wide.sizes && h("div", { class: "cards" }, charts),
    h("div", { class: "wide-table tall", tabindex: "0", role: "region", "aria-label": "Comparison" }, table(groups, answer.rows, wide)),
    explained(answer, groups),
    !wide.sizes && h("div", { class: "cards" }, charts),
    !wide.joules && groups.length > 1 && h("p", { class: "muted" }, "Energy is not drawn: this network tells no joules. Load a fleet with joules_per_sample and joules_per_megabyte to see it."),
  ].filter(Boolean);
}

// Samplers that do not draw differ by less from seed to seed, relative to the objective.
const ROUNDING = 1e-6;

/** Whether an interval is more than rounding. */
const varies = ({ mean, low, high }) => high - low > ROUNDING * Math.abs(mean);

/** [key, name, value to sort by, cell] of each column. */
function columns(groups, rows, { sizes, scales, joules }) {
  const sampler = baselineSampler(groups, state.settings);
  const base = (one) => baselineOf(groups, sampler, one);
  const spread = (mean, tell) => (mean ? [tell(mean.mean), varies(mean) ? h("small", {}, ` ± ${figure((mean.high - mean.low) / 2)}`) : null] : "–");
  return [
    ["sampler", "sampler", (one) => one.sampler, (one) => one.sampler],
    sizes && ["size", "S", (one) => one.sample_size, (one) => String(one.sample_size)],
    scales && ["scale", "budgets ×", (one) => one.budget_scale, (one) => String(one.budget_scale)],
    ["rank", "rank", (one) => one.rank ?? null, (one) => rank(one, groups)],
    ["objective", "objective", (one) => one.objective?.mean, (one) => spread(one.objective, exact)],
    ["difference", "against baseline", (one) => difference(one, base(one), rows)?.value, (one) => differs(one, base(one), rows)],
    ["gap", "gap ≤", (one) => one.gap, (one) => percent(one.gap)],
    ["sent", "sent", (one) => one.datapoints_sent?.mean, (one) => spread(one.datapoints_sent, figure)],
    ["useful", "useful", (one) => one.datapoints_useful?.mean, (one) => spread(one.datapoints_useful, figure)],
    joules && ["joules", "joules", (one) => one.joules?.mean, (one) => spread(one.joules, figure)],
    ["coverage", "coverage", (one) => one.coverage?.mean, (one) => percent(one.coverage?.mean ?? null)],
    ["ms", "ms", (one) => one.milliseconds, (one) => figure(one.milliseconds)],
  ].filter(Boolean);
}

const alike = (one, groups) => groups.filter((other) => other.rank && other.sample_size === one.sample_size && other.budget_scale === one.budget_scale);

/** Ties share a rank and are marked; where all are tied nobody is the best. */
function rank(one, groups) {
  const rivals = alike(one, groups);
  const ties = rivals.filter((other) => other.rank === one.rank).length;
  const best = one.rank === 1 && ties < rivals.length;
  return [String(one.rank), ties > 1 ? h("span", { title: `${ties} tied: they differ by no more than is certified` }, " =") : null, best ? h("strong", {}, " ★", h("span", { class: "unseen" }, " best")) : null];
}

function differs(one, base, rows) {
  if (one.key === base?.key) return h("em", {}, "baseline");
  const found = difference(one, base, rows);
  if (!found) return "–";
  if (found.tied) return "tied";
  const share = `${found.value > 0 ? "+" : "−"}${percent(Math.abs(found.share))}`;
  const spread = found.half > ROUNDING ? h("small", {}, ` ± ${percent(found.half)}`) : null;
  return [share, spread, found.unsure ? h("small", {}, " within chance") : null];
}

function table(groups, rows, wide) {
  const all = columns(groups, rows, wide);
  const sort = state.sort ?? { by: wide.sizes ? "size" : "objective", down: false };
  const by = all.find(([key]) => key === sort.by) ?? all[0];
  const line = (one) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, one.sampler),
      one.planned
        ? [all.slice(1).map(([key, , , cell]) => h("td", { class: key === "rank" && one.rank === 1 ? "best" : null }, cell(one))), h("td", {}, one.budget_scale === 1 && button("Show", () => showPlan(one), { class: "quiet", "data-key": `show-${one.key}`, "aria-label": `Show the plan of ${one.sampler}${wide.sizes ? ` for S = ${one.sample_size}` : ""}` }))]
        : [wide.sizes && h("td", {}, String(one.sample_size)), h("td", { colspan: all.length }, `no plan: ${one.reason}`)],
    );
  const heads = all.map(([key, name]) => sortHead(name, key, sort, (next) => update({ sort: next })));
  return h("table", {}, h("thead", {}, h("tr", {}, heads, h("th", { scope: "col" }, h("span", { class: "unseen" }, "Open")))), h("tbody", {}, sorted(groups, by[2], sort.down).map(line)));
}

/** The baseline, what ± and = mean, and the rows to take along. */
function explained(answer, groups) {
  const samplers = [...new Set(groups.map(({ sampler }) => sampler))];
  const seeds = new Set(answer.rows.map(({ seed }) => seed)).size;
  const box = choiceBox({ name: "baseline", value: baselineSampler(groups, state.settings), options: samplers.map((name) => [name, name]), onset: (baseline) => set({ baseline }) });
  box.dataset.key = "baseline";
  const told = seeds > 1 ? `Means over ${seeds} seeds, ± half of the 95 % interval; a sampler that does not draw has none.` : "One seed of each: with more, means and intervals are shown.";
  return h(
    "div",
    { class: "row under" },
    h("label", {}, "Baseline ", box),
    button("Save as CSV", () => save("comparison.csv", csv(numbers(answer)), "text/csv"), { class: "quiet" }),
    h("small", {}, `${told} “=” marks ties, which differ by no more than is certified. Gap: no choice of S devices is better by more. The baseline is compared seed by seed; “within chance”: the interval of the difference contains 0.`),
  );
}

const FIELDS = ["sampler", "sample_size", "budget_scale", "seed", "state", "status", "objective", "rank", "relative_gap", "horizon_gap", "set_bound", "set_gap", "datapoints_sent", "datapoints_useful", "transmit_cost", "processing_cost", "coverage", "pareto"];

/** Every plan of the answer, one a row. */
const numbers = ({ rows }) => [[...FIELDS, "sampled"], ...rows.map((row) => [...FIELDS.map((name) => row[name]), (row.sampled_ids ?? row.sampled ?? []).join(" ")])];

function showPlan({ sampler, sample_size: size }) {
  set({ sampler, size, view: "plan" });
  makePlan();
}

function sizeChart(groups) {
  const series = sizeCurves(groups);
  const found = needed(groups, baselineSampler(groups, state.settings));
  const answer = found && (found.size === found.last ? `With ${found.sampler} the objective still falls at S = ${found.last}: compare more devices. ` : `With ${found.sampler}, ${plural(found.size, "device")} reach ${percent(found.share)} of the gain from S = ${found.first} to S = ${found.last}. `);
  const columnOf = (one, size) => one.y[one.x.indexOf(size)] ?? null;
  const all = [...new Set(series.flatMap(({ x }) => x))].sort((a, b) => a - b);
  return chart({
    name: "devices",
    caption: "How many devices do I need?",
    about: "Objective over the number of sampled devices",
    xLabel: "devices S",
    yLabel: "objective",
    series,
    x: { from: Math.min(1, ...all) },
    log: { label: "objective, log scale" },
    note: `${answer ?? ""}Lower is better. Bands are 95 % intervals over seeds. No choice of S devices has an objective below the dotted line (set_bound).`,
    table: [["S", ...series.map(({ name }) => name)], ...all.map((size) => [size, ...series.map((one) => columnOf(one, size))])],
  });
}

function tradeChart(groups, cost, words) {
  const series = tradeOff(groups, cost);
  return chart({
    name: `objective-${cost}`,
    caption: `Objective against ${words}`,
    about: `Objective against ${words}, a point for each sampler and size`,
    xLabel: words,
    yLabel: "objective",
    series,
    note: "Left and low is better. Filled: no other is at least as good in everything and better in something (Pareto). Bars are 95 % intervals over seeds.",
    table: [["plan", words, "objective", "Pareto"], ...series.flatMap((one) => one.x.map((value, j) => [one.labels[j], value, one.y[j], one.front[j] ? "yes" : "no"]))],
  });
}
