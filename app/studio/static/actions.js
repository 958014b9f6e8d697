// What the page does: make a network, plan, and tell the store.
import { pack, unpack } from "./core/carry.js";
import { generate } from "./core/generate.js";
import { readFile } from "./core/loading.js";
import { networkOfFleet, toWire } from "./core/network.js";
import { replay } from "./core/replay.js";
import { SETTINGS, fromParameters, toParameters } from "./core/settings.js";
import { call } from "./ui/api.js";
import { announce } from "./ui/notices.js";
import { set, state, update } from "./ui/store.js";

export const MADE_BY = ["topology", "n", "degree", "budgets", "sizes", "labels", "stragglers", "seed"];
export const PLANNED_BY = ["sampler", "size", "horizon", "period", "solver", "transfer", "norm", "decay", "noise", "draw"];

const NOTHING = { plan: null, story: null, planning: false, planError: null, diagnosis: null, compared: null, loop: null, report: null };

/** The network of the settings: carried by the link, or generated. */
export async function makeNetwork() {
  const { settings } = state;
  try {
    const made = settings.given ? await unpack(settings.given) : { network: generate(settings), parameters: {} };
    const origin = settings.given ? "from the link" : `${settings.topology}, seed ${settings.seed}`;
    update({ ...NOTHING, network: made.network, schedule: made.parameters.schedule ?? [], origin, networkError: null });
  } catch (error) {
    update({ ...NOTHING, network: null, networkError: error });
  }
}

/** The network in files; what this page cannot read itself the service imports, and reports what it assumed. */
export async function readFiles(files) {
  const own = files.length === 1 ? await readFile(files[0]) : null;
  if (own) return own;
  const sent = await Promise.all(files.map(async (file) => ({ name: file.name, text: await file.text() })));
  const { fleet, report } = await call("POST", "/v1/imports", { files: sent });
  const translated = await call("POST", "/v1/plans", { fleet, sample_size: 1, horizon: 1, dry_run: true });
  return { network: networkOfFleet(fleet, translated), parameters: {}, report };
}

/** Take a network that was dropped, chosen or pasted, and what came with it: settings, the report of an import. */
export async function takeNetwork({ network, parameters, report = null }, origin) {
  const schedule = parameters.schedule ?? [];
  update({ ...NOTHING, network, schedule, origin, report, networkError: null });
  const given = (await pack(network, schedule)) ?? "";
  const cap = { size: Math.min(state.settings.size, network.n) };
  set({ ...cap, ...fromParameters(parameters), given, step: 0, planned: 0, device: -1, run: "", norms: "" });
  update({ unlinkable: given === "" });
  announce(`Network with ${network.n} devices loaded`);
}

/** Back to a generated one. */
export async function generateWith(patch) {
  set({ ...patch, given: "", step: 0, device: -1, run: "", norms: "" });
  update({ unlinkable: false });
  await makeNetwork();
  if (state.settings.planned) await makePlan();
}

/** The request behind the plan. */
export const planRequest = (more = {}) => ({
  network: toWire(state.network),
  ...toParameters({ ...state.settings, size: Math.min(state.settings.size, state.network.n) }, state.schedule),
  ...more,
});

// Above this many devices × picks a plan comes without the gains of every device, which take time and bytes.
const MOST_GAINS = 20_000;
const explained = () => state.network.n * Math.min(state.settings.size, state.network.n) <= MOST_GAINS;

let underWay = new AbortController();

/** Plan with the settings as they are; the newest request wins. */
export async function makePlan() {
  underWay.abort();
  underWay = new AbortController();
  const { signal } = underWay;
  const { network, schedule } = state;
  if (!network) return;
  update({ planning: true, planError: null });
  set({ planned: 1 });
  try {
    const begin = performance.now();
    const plan = await call("POST", "/v1/plans", planRequest(explained() ? { explain_all: true } : {}), { signal });
    plan.seconds = (performance.now() - begin) / 1000;
    const story = replay(network, schedule, plan);
    update({ plan, story, planning: false });
    set({ step: Math.min(state.settings.step, plan.steps.length) });
    announce(`Planned: ${plan.sampled.length} devices sampled, objective ${plan.objective.toPrecision(4)}`);
  } catch (error) {
    if (error.name === "AbortError") return;
    update({ plan: null, story: null, planning: false, planError: error });
  }
}

/** Change how to plan; what was planned already is planned anew. */
export function planWith(patch) {
  set(patch);
  if (state.settings.planned) return makePlan();
  return undefined;
}

export function clearPlan() {
  underWay.abort();
  update({ plan: null, story: null, planning: false, planError: null });
  set({ planned: 0, step: 0 });
}

/** Who could be sampled and what is tight, without solving anything. */
export async function diagnose() {
  const { network } = state;
  try {
    const diagnosis = await call("POST", "/v1/plans", planRequest({ dry_run: true }));
    if (state.network === network) update({ diagnosis, diagnosisError: null });
  } catch (error) {
    if (state.network === network) update({ diagnosis: null, diagnosisError: error });
  }
}

export async function loadSamplers() {
  try {
    const { samplers, default: standard } = await call("GET", "/v1/samplers");
    update({ samplers, standard, samplersError: null });
    if (!state.settings.sampler) SETTINGS.sampler.fallback = standard;
    if (!state.settings.sampler) set({ sampler: standard });
  } catch (error) {
    update({ samplersError: error });
  }
}

/** The story on show: the closed loop's in its view, else the plan's. */
export const shownStory = () => (state.settings.view === "loop" ? (state.loop?.story ?? null) : state.story);
