// Validations: start one, watch it learn, look at past ones.
import { planRequest } from "../actions.js";
import { percent } from "../core/format.js";
import { ENDED, SCHEMES, validationRequest } from "../core/experiments.js";
import { takeOff } from "../core/keeping.js";
import { call, follow } from "../ui/api.js";
import { button, choiceBox, field, h, numberBox, renew } from "../ui/dom.js";
import { announce, empty, loading } from "../ui/notices.js";
import { labelOf } from "../ui/overlays.js";
import { loadShelf, shelfList } from "../ui/shelf.js";
import { callKey, snippetBox } from "../ui/snippets.js";
import { listen, set, state, update } from "../ui/store.js";

const form = { name: "", source: "network", data_set: "digits", schemes: ["ours-offload", "random-offload", "heuristic-offload", "random"], seeds: 3, draws: 1, aggregations: 6, target: 0.6 };
const SOURCES = [
  ["network", "The network shown"],
  ["plan", "The plan shown"],
  ["run", "The run of the closed loop"],
  ["generator", "New networks for each seed"],
];
const SETS = { digits: "Digits (small)", mnist: "MNIST", "fashion-mnist": "Fashion-MNIST" };
const NUMBERS = [
  ["aggregations", "Aggregations K", 1, 1000, 1],
  ["seeds", "Seeds", 1, 100, 1, "One seed can mislead."],
  ["draws", "Draws of random schemes", 1, 100, 1],
  ["target", "Target accuracy", 0.01, 1, "any"],
];
const PAGE = 100;

let stop = new AbortController();
let opened = "";

/** Show a validation and follow it to its end; nothing without an id. */
async function open(id) {
  stop.abort();
  opened = id;
  if (!id) return update({ job: null, jobError: null });
  stop = new AbortController();
  const { signal } = stop;
  set({ job: id });
  update({ jobError: null });
  const path = `/v1/validations/${id}`;
  const refresh = async () => update({ job: await call("GET", path, undefined, { signal }) });
  try {
    await refresh();
    if (ENDED.has(state.job.state)) return undefined;
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
  return undefined;
}

/** Which data sets the workers have; a page without an answer offers the one that needs no files. */
async function loadDataSets() {
  try {
    update({ dataSets: await call("GET", "/v1/datasets") });
  } catch {
    update({ dataSets: null });
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

export async function cancel() {
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

/** Whether there is what a source names. */
const isThere = (kind) => (kind === "plan" ? Boolean(state.plan) : kind === "run" ? Boolean(state.loop?.plan) : true);
const source = () => (isThere(form.source) ? form.source : "network");
const isPlanned = () => source() === "plan" || source() === "run";
const schemes = () => form.schemes.filter((name) => name !== "plan" || isPlanned());

/** Choose the run of the closed loop as what is trained on, what was planned in it among the schemes. */
export function chooseRun() {
  form.source = "run";
  form.schemes = [...new Set(["plan", ...form.schemes])];
  set({ view: "validate" });
}
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
    const sources = SOURCES.filter(([kind]) => isThere(kind));
    const title = h("input", { type: "text", name: "name", value: form.name, maxlength: 80, placeholder: "optional", onchange: () => (form.name = title.value.trim()) });
    fields.replaceChildren(
      field("Train on", choiceBox({ name: "source", value: source(), options: sources, onset: change("source") })),
      dataSetField(change("data_set")),
      field("Name", title),
      ...NUMBERS.map(([key, label, min, max, step, hint]) => field(label, numberBox({ name: key, value: form[key], min, max, step, onset: change(key) }), hint)),
    );
    const offered = isPlanned() ? [["plan", "What was planned"], ...SCHEMES] : SCHEMES;
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
  listen(["settings", "network", "plan", "starting", "job", "dataSets"], show);
  listen(["jobs", "settings", "job", "overlaid", "shelf"], () => {
    if (state.settings.view === "validate" && !list.querySelector(".renaming")) renew(list, pastList());
  });
  let entered = false;
  const enter = () => {
    if (state.settings.view !== "validate") return;
    if (!entered) {
      entered = true;
      past();
      loadDataSets();
      loadShelf();
    }
    // A link or Back may name another validation.
    if (state.settings.job !== opened) open(state.settings.job);
  };
  listen(["settings", "network"], enter);
  addEventListener("key", () => ((entered = false), (opened = ""), enter()));
}

/** Data sets that no worker has cannot be chosen, and the reason is told. */
function dataSetField(onset) {
  const { workers, data_sets: known } = state.dataSets ?? { workers: 0, data_sets: [{ name: "digits" }] };
  // Without workers nothing is known, and a validation waits for one.
  const missing = workers ? known.filter((one) => !one.available) : [];
  const box = choiceBox({ name: "data_set", value: form.data_set, options: known.map((one) => [one.name, `${SETS[one.name] ?? one.name}${missing.includes(one) ? " (not there)" : ""}`]), onset });
  for (const { name, reason } of missing) Object.assign(box.querySelector(`[value="${name}"]`), { disabled: true, title: reason });
  const hint = workers || !state.dataSets ? missing.length ? `${missing.map(({ name }) => SETS[name] ?? name).join(", ")}: no worker has the files. They belong into a worker’s FEDSIFT_DATA_DIR.` : "" : "No worker is running (fedsift worker starts one).";
  const made = field("Data set", box, hint);
  made.classList.add("wide");
  return made;
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

const SHOWN = 30;

function pastList() {
  const { jobs, job } = state;
  if (!jobs) return [loading("Looking")];
  if (!jobs.length) return [empty("None yet", "What you start is listed here.")];
  const rows = jobs.slice(0, SHOWN).map((one) => {
    const current = one.id === job?.id ? job : one;
    const progress = ENDED.has(current.state) ? "" : `, ${percent(current.progress)}`;
    return { id: one.id, kind: "validation", name: labelOf(one), about: `${current.state}${progress}`, current: one.id === job?.id, busy: !ENDED.has(current.state) };
  });
  return [shelfList(rows, { open: ({ id }) => open(id), over: Boolean(job), remove }), jobs.length > SHOWN && h("p", { class: "muted" }, `and ${jobs.length - SHOWN} older ones`)].filter(Boolean);
}

/** Forget a validation that has ended. */
async function remove({ id }) {
  try {
    await call("DELETE", `/v1/validations/${id}`);
    await takeOff(id);
    if (state.settings.job === id) set({ job: "" });
    await past();
  } catch (error) {
    update({ jobError: error });
  }
}
