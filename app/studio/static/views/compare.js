// Samplers side by side on the same network.
import { makePlan, planRequest } from "../actions.js";
import { exact, figure, percent } from "../core/format.js";
import { coverage, mixtureDistance } from "../core/measures.js";
import { replay } from "../core/replay.js";
import { samplerChoices } from "../core/samplers.js";
import { bestOf, ties } from "../core/ties.js";
import { drawMinimap } from "../draw/minimap.js";
import { call } from "../ui/api.js";
import { barChart, csv, figureOf } from "../ui/chart.js";
import { button, h, renew, save } from "../ui/dom.js";
import { announce, empty, loading, problem } from "../ui/notices.js";
import { callKey, snippetBox } from "../ui/snippets.js";
import { listen, set, state, update } from "../ui/store.js";
import { keptFields } from "./plan.js";

// Trying every set takes too long for all but small networks.
const ONLY_SMALL = new Set(["exhaustive"]);
const SMALL = 20;

const wanted = () => {
  const named = state.settings.compare ? state.settings.compare.split(",") : [];
  if (named.length) return named;
  return state.samplers.map(({ name }) => name).filter((name) => !ONLY_SMALL.has(name) || state.network?.n <= SMALL);
};

export function compareView(panel) {
  const choices = h("fieldset", { class: "checks" });
  const calls = snippetBox(
    () => wanted().map((sampler) => ({ method: "POST", path: "/v1/plans", body: planRequest({ sampler }), file: `${sampler.replace(":", "-")}.json`, note: sampler })),
    () => callKey(state, wanted()),
  );
  listen(["network", "settings", "samplers"], calls.refresh);
  panel.append(
    h("h2", {}, "Compare"),
    choices,
    button("Compare", compare, { class: "main", id: "compare-button" }),
    h("details", {}, h("summary", {}, "Settings of the plans"), keptFields(["size", "horizon", "norm", "decay", "noise", "draw"])),
    calls.box,
  );
  const show = () => {
    if (state.settings.view !== "compare") return;
    if (choices.contains(document.activeElement)) return;
    const chosen = new Set(wanted());
    const choice = ({ name, description }) =>
      h(
        "label",
        { title: description },
        h("input", { type: "checkbox", name: "compared", value: name, checked: chosen.has(name), onchange: () => set({ compare: checked(choices).join(",") }) }),
        name,
      );
    const all = samplerChoices(state.samplers);
    const searches = all.filter(({ name }) => name.includes(":"));
    choices.replaceChildren(
      h("legend", {}, "Samplers"),
      ...all.filter(({ name }) => !name.includes(":")).map(choice),
      ...(searches.length ? [h("details", { open: searches.some(({ name }) => chosen.has(name)) }, h("summary", {}, "By other objectives"), searches.map(choice))] : []),
    );
  };
  listen(["settings", "samplers", "network"], show);
  let linked = true;
  listen(["samplers", "network"], () => {
    // A link to a comparison makes it.
    if (linked && state.settings.view === "compare" && state.settings.compare && state.samplers.length && state.network) {
      linked = false;
      compare();
    }
  });
}

const checked = (box) => [...box.querySelectorAll("input:checked")].map(({ value }) => value);

async function compare() {
  const names = wanted();
  set({ compare: names.join(",") });
  const { network, schedule } = state;
  let rows = names.map((sampler) => ({ sampler, state: "waiting" }));
  const note = (i, more) => {
    rows = rows.map((row, j) => (j === i ? { ...row, ...more } : row));
    update({ compared: { rows, network } });
  };
  update({ compared: { rows, network } });
  // One after the other, so that the times can be compared.
  for (const [i, sampler] of names.entries()) {
    if (state.network !== network) return;
    note(i, { state: "planning" });
    try {
      const plan = await call("POST", "/v1/plans", planRequest({ sampler }));
      const story = replay(network, schedule, plan);
      note(i, { state: "done", plan, story, ...measured(network, plan, story) });
    } catch (error) {
      note(i, { state: "failed", error });
    }
  }
  announce("Compared");
}

function measured(network, plan, story) {
  const end = story.frames.length - 1;
  return {
    moved: story.frames.reduce((sum, { flows }) => sum + flows.datapoints.reduce((a, b) => a + b, 0), 0),
    useful: story.frames.reduce((sum, { received }) => sum + received.reduce((a, b) => a + b, 0), 0),
    covered: coverage(network, story, end),
    mixture: mixtureDistance(network, story, end),
    milliseconds: (plan.timing_ms.sample ?? 0) + (plan.timing_ms.solve ?? 0),
  };
}

const COLUMNS = [
  ["objective", ({ plan }) => plan.objective, "low"],
  ["(a)", ({ plan }) => plan.sampling_term, "low"],
  ["(b)", ({ plan }) => plan.statistical_term, "low"],
  ["coverage", ({ covered }) => covered, "high"],
  ["mixture distance", ({ mixture }) => mixture, "low"],
  ["useful datapoints", ({ useful }) => useful, "high"],
  ["datapoints sent", ({ moved }) => moved, ""],
  ["gap ≤", ({ plan }) => plan.relative_gap, ""],
  ["ms", ({ milliseconds }) => milliseconds, ""],
];

export function comparePanel(panel) {
  const show = () => {
    if (state.settings.view !== "compare") return;
    const { compared } = state;
    if (!compared) {
      panel.replaceChildren(empty("Nothing compared yet", "Choose samplers on the left; each plans for the same network."));
      return;
    }
    const done = compared.rows.filter((row) => row.state === "done");
    const busy = compared.rows.find((row) => row.state === "planning");
    renew(
      panel,
      [
        busy && loading(`Planning with ${busy.sampler}`),
        h("div", { class: "wide-table", tabindex: "0", role: "region", "aria-label": "Comparison" }, table(compared.rows, done)),
        done.length > 0 && button("Save as CSV", () => save("comparison.csv", csv(numbers(done)), "text/csv"), { class: "quiet" }),
        h("div", { class: "cards maps" }, done.map((row) => card(row, compared.network))),
        !busy && done.length > 1 && bars(done),
      ].filter(Boolean),
    );
    for (const canvas of panel.querySelectorAll("canvas")) canvas.draw();
  };
  listen(["compared", "settings", "places"], show);
  addEventListener("shade", show);
}

const numbers = (done) => [
  ["sampler", ...COLUMNS.map(([name]) => name), "sampled"],
  ...done.map((row) => [row.sampler, ...COLUMNS.map(([, value]) => value(row)), row.plan.sampled.join(" ")]),
];

function table(rows, done) {
  const best = COLUMNS.map(([, value, way]) => bestOf(done.map(value), way));
  const cells = (row) =>
    COLUMNS.map(([name, value], c) => {
      const one = value(row);
      const text = name === "coverage" ? percent(one) : name === "ms" || name.startsWith("gap") || name.includes("data") ? figure(one) : exact(one);
      const first = best[c] !== null && one !== null && ties(one, best[c]);
      return h("td", { class: first ? "best" : null }, text, first ? h("span", { class: "unseen" }, " (best)") : null, first ? " ★" : null);
    });
  const line = (row) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, row.sampler),
      row.state === "done"
        ? [cells(row), h("td", {}, button("Show", () => showPlan(row), { class: "quiet", "aria-label": `Show the plan of ${row.sampler}` }))]
        : h("td", { colspan: COLUMNS.length + 1 }, row.state === "failed" ? problem(row.error) : row.state),
    );
  return h(
    "table",
    {},
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "sampler"), COLUMNS.map(([name]) => h("th", { scope: "col" }, name)), h("th", { scope: "col" }, h("span", { class: "unseen" }, "Open")))),
    h("tbody", {}, rows.map(line)),
  );
}

function showPlan({ sampler }) {
  set({ sampler, view: "plan" });
  makePlan();
}

function card(row, network) {
  const canvas = h("canvas", { class: "minimap", role: "img", "aria-label": `Devices sampled by ${row.sampler} and the flows of step 1` });
  canvas.draw = () => state.places && drawMinimap(canvas, network, state.places, row.story, 1, document.documentElement.dataset.shade);
  return h("div", { class: "card" }, h("strong", {}, row.sampler), h("p", { class: "muted" }, `devices ${row.plan.sampled.slice(0, 12).join(", ")}${row.plan.sampled.length > 12 ? ", …" : ""}`), canvas);
}

function bars(done) {
  const chart = ([name, value]) => {
    const svg = barChart({ title: `${name} by sampler`, xLabel: name, rows: done.map((row) => ({ name: row.sampler, value: value(row), text: exact(value(row)) })) });
    return h("div", { class: "card" }, figureOf(svg, name, [["sampler", name], ...done.map((row) => [row.sampler, value(row)])], name.replaceAll(" ", "-")));
  };
  const shown = ["objective", "coverage", "mixture distance", "useful datapoints"];
  return h("div", { class: "cards" }, COLUMNS.filter(([name, value]) => shown.includes(name) && value(done[0]) !== null).map(chart));
}
