// Validations: start one, watch it learn, look at past ones.
import { planRequest } from "../actions.js";
import { percent } from "../core/format.js";
import { ENDED, SCHEMES, curveSeries, curveTable, lookOf, schemeTable, standing, validationRequest } from "../core/experiments.js";
import { call, follow } from "../ui/api.js";
import { barChart, csv, figureOf, lineChart, tableOf } from "../ui/chart.js";
import { button, choiceBox, facts, field, h, numberBox, renew, save } from "../ui/dom.js";
import { announce, empty, loading, problem } from "../ui/notices.js";
import { callKey, snippetBox } from "../ui/snippets.js";
import { listen, set, state, update } from "../ui/store.js";

const form = { source: "network", data_set: "digits", schemes: ["ours-offload", "random-offload", "heuristic-offload", "random"], seeds: 1, draws: 1, aggregations: 6, target: 0.6 };
const SOURCES = [
  ["network", "The network shown"],
  ["plan", "The plan shown"],
  ["generator", "New networks for each seed"],
];
const SETS = [
  ["digits", "Digits (small, always there)"],
  ["mnist", "MNIST (the worker needs its files, or the internet)"],
  ["fashion-mnist", "Fashion-MNIST (likewise)"],
];
const NUMBERS = [
  ["aggregations", "Aggregations K", 1, 1000, 1],
  ["seeds", "Seeds", 1, 100, 1],
  ["draws", "Draws of random schemes", 1, 100, 1],
  ["target", "Target accuracy", 0.01, 1, "any"],
];
const PAGE = 100;

let stop = new AbortController();

/** Show a validation and follow it to its end. */
async function open(id) {
  stop.abort();
  stop = new AbortController();
  const { signal } = stop;
  set({ job: id });
  update({ jobError: null });
  const path = `/v1/validations/${id}`;
  const refresh = async () => update({ job: await call("GET", path, undefined, { signal }) });
  try {
    await refresh();
    if (ENDED.has(state.job.state)) return;
    let timer = 0;
    await follow(
      `${path}/events`,
      ({ event, data }) => {
        // Rounds may come quickly; the curves are fetched a few times a second at the most.
        if (!timer) timer = setTimeout(() => ((timer = 0), refresh().catch(() => {})), 250);
        return !(event === "state" && ENDED.has(JSON.parse(data).state));
      },
      signal,
    );
    clearTimeout(timer);
    await refresh();
    announce(`The validation has ${state.job.state}`);
    await past();
  } catch (error) {
    if (error.name !== "AbortError") update({ jobError: error });
  }
}

async function past() {
  try {
    let [found, after] = [[], ""];
    do {
      const page = await call("GET", `/v1/validations?limit=${PAGE}${after && `&after=${after}`}`);
      found = [...found, ...page.validations];
      after = page.next ?? "";
    } while (after && found.length < 10 * PAGE);
    update({ jobs: found.reverse() });
  } catch (error) {
    update({ jobError: error });
  }
}

async function start() {
  update({ jobError: null, starting: true });
  try {
    await keepPlan();
    const made = await call("POST", "/v1/validations", request());
    update({ job: made, starting: false });
    announce("Validation started");
    past();
    await open(made.id);
  } catch (error) {
    update({ jobError: error, starting: false });
  }
}

/** Lay another validation's curves over the open one's, or take them away. */
async function overlay(id) {
  if (state.overlaid?.id === id) return update({ overlaid: null });
  try {
    return update({ overlaid: await call("GET", `/v1/validations/${id}`) });
  } catch (error) {
    return update({ jobError: error });
  }
}

async function cancel() {
  try {
    update({ job: await call("POST", `/v1/validations/${state.job.id}/cancel`) });
  } catch (error) {
    update({ jobError: error });
  }
}

/** A validation names a plan by its id, so the service has to keep it; the same request gives the same plan. */
async function keepPlan() {
  const { plan } = state;
  if (source() !== "plan" || plan.kept) return;
  plan.kept = (await call("POST", "/v1/plans", planRequest({ keep: true }))).id;
}

const source = () => (form.source === "plan" && !state.plan ? "network" : form.source);
const schemes = () => form.schemes.filter((name) => name !== "plan" || source() === "plan");
const request = () => validationRequest({ ...form, source: source(), schemes: schemes() }, state);

export function validateView(panel) {
  const fields = h("div", { class: "fields" });
  const checks = h("fieldset", { class: "checks" });
  const list = h("div");
  const calls = snippetBox(requests, () => callKey(state, form, source(), schemes(), state.job?.id));
  const go = button("Start", start, { class: "main", id: "start-validation" });
  panel.append(h("h2", {}, "Validate"), h("p", { class: "muted" }, "Train for real, under several schemes, and see what the plans are worth."), fields, checks, h("div", { class: "row" }, go), h("h3", {}, "Past validations"), list, calls.box);
  const change = (name) => (value) => {
    form[name] = value;
    show();
  };
  const show = () => {
    if (state.settings.view !== "validate") return;
    const focused = document.activeElement;
    const [name, value] = panel.contains(focused) ? [focused.name, focused.type === "checkbox" ? focused.value : ""] : [];
    const sources = SOURCES.filter(([kind]) => kind !== "plan" || state.plan);
    fields.replaceChildren(
      field("Train on", choiceBox({ name: "source", value: source(), options: sources, onset: change("source") })),
      field("Data set", choiceBox({ name: "data_set", value: form.data_set, options: SETS, onset: change("data_set") })),
      ...NUMBERS.map(([key, label, min, max, step]) => field(label, numberBox({ name: key, value: form[key], min, max, step, onset: change(key) }))),
    );
    const offered = source() === "plan" ? [["plan", "The plan itself"], ...SCHEMES] : SCHEMES;
    const toggle = () => {
      form.schemes = [...checks.querySelectorAll("input:checked")].map((box) => box.value);
      show();
    };
    checks.replaceChildren(
      h("legend", {}, "Schemes"),
      ...offered.map(([key, label]) => h("label", {}, h("input", { type: "checkbox", name: "scheme", value: key, checked: form.schemes.includes(key), onchange: toggle }), label)),
    );
    if (name) panel.querySelector(`[name="${name}"]${value ? `[value="${value}"]` : ""}`)?.focus();
    go.disabled = Boolean(state.starting) || !state.network || schemes().length === 0;
    calls.refresh();
  };
  listen(["settings", "network", "plan", "starting", "job"], show);
  listen(["jobs", "settings", "job", "overlaid"], () => state.settings.view === "validate" && list.replaceChildren(...pastList()));
  let entered = false;
  const enter = () => {
    if (entered || state.settings.view !== "validate") return;
    entered = true;
    past();
    if (state.settings.job && state.job?.id !== state.settings.job) open(state.settings.job);
  };
  listen(["settings", "network"], enter);
  addEventListener("key", () => ((entered = false), enter()));
}

function requests() {
  const keep = { method: "POST", path: "/v1/plans", body: planRequest({ keep: true }), file: "request.json", note: "Keep the plan; its id goes into the next call." };
  const begin = { method: "POST", path: "/v1/validations", body: request(), file: "validation.json", note: "Start; the answer has the id." };
  const made = source() === "plan" ? [keep, begin] : [begin];
  if (state.job) {
    const path = `/v1/validations/${state.job.id}`;
    made.push({ method: "GET", path, note: "Where it stands, with the curves." }, { method: "GET", path: `${path}/events`, note: "Live." });
  }
  return made;
}

const when = (text) => new Date(text).toLocaleString([], { dateStyle: "short", timeStyle: "short" });

function pastList() {
  const { jobs, job } = state;
  if (!jobs) return [loading("Looking")];
  if (!jobs.length) return [empty("None yet", "What you start is listed here.")];
  return [
    h(
      "ul",
      { class: "past" },
      jobs.slice(0, 30).map((one) => {
        const current = one.id === job?.id ? job : one;
        const progress = ENDED.has(current.state) ? "" : `, ${percent(current.progress)}`;
        const name = `${when(one.created_at)} · ${current.state}${progress}`;
        const over = state.overlaid?.id === one.id;
        const lay = button(over ? "take away" : "overlay", () => overlay(one.id), { class: "link", "aria-pressed": String(over), "data-job": one.id, "aria-label": `Overlay the curves of ${name}` });
        return h("li", {}, button(name, () => open(one.id), { class: "link", "aria-current": one.id === job?.id ? "true" : null }), job && one.id !== job.id && lay);
      }),
    ),
  ];
}

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
  listen(["job", "overlaid", "jobError", "starting", "settings"], () => {
    const now = { job: state.job, over: state.overlaid, error: state.jobError, starting: state.starting, view: state.settings.view };
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

/** The curves laid over, dotted and without bands. */
function overlaid(job, measure) {
  const other = state.overlaid;
  if (!other || other.id === job.id) return [];
  return curveSeries(other, measure).map(({ name, x, y, look }) => ({ name: `${name}, ${when(other.created_at)}`, x, y, look: { ...look, dash: "1.5 3" } }));
}

const band = (job) => {
  const runs = Math.max(...job.schemes.map((one) => one.runs_planned));
  const means = runs > 1 ? `Means over up to ${runs} runs; bands are one standard deviation wide on each side.` : "One run of each scheme: chance alone can order them.";
  return `${means} Solid lines send data, dashed ones do not.${state.overlaid ? " Dotted lines are those of the validation laid over." : ""}`;
};

function results(job) {
  const lines = (measure, caption, more = {}) => {
    const svg = lineChart({ title: `${caption} by scheme`, xLabel: "aggregation k", yLabel: measure.replace("_", " "), series: [...curveSeries(job, measure), ...overlaid(job, measure)], to: job.aggregations, ...more });
    return h("div", { class: "card" }, figureOf(svg, caption, curveTable(job, measure), measure), h("small", {}, band(job)));
  };
  const bars = (key, caption) => {
    const rows = job.schemes.map((one) => ({ name: one.scheme, value: one.runs ? (one[key] ?? null) : null, text: standing(job, one, key), look: lookOf(one.scheme) }));
    return h("div", { class: "card" }, figureOf(barChart({ title: `${caption} by scheme`, xLabel: caption, rows }), caption, [["scheme", caption], ...rows.map(({ name, value }) => [name, value])], key));
  };
  const table = schemeTable(job);
  return h(
    "div",
    {},
    h(
      "div",
      { class: "cards" },
      lines("accuracy", "Accuracy after each aggregation", { target: job.target }),
      lines("loss", "Loss after each aggregation"),
      bars("aggregations_to_target", `Aggregations to an accuracy of ${job.target}`),
      bars("datapoints_to_target", `Datapoints processed to an accuracy of ${job.target}`),
      bars("moved", "Datapoints moved"),
      lines("gradient_norm", "Gradient norm as measured", { from: 0 }),
    ),
    h("div", { class: "wide-table", tabindex: "0", role: "region", "aria-label": "Results by scheme" }, tableOf(table)),
  );
}
