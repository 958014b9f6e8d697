// What the page does: make a network, plan, and tell the store.
import { pack, unpack } from "./core/carry.js";
import { generate } from "./core/generate.js";
import { keep, kept } from "./core/keeping.js";
import { readFile } from "./core/loading.js";
import { InputError, networkOfFleet, toWire } from "./core/network.js";
import { replay } from "./core/replay.js";
import { SETTINGS, fromParameters, toParameters } from "./core/settings.js";
import { call, request } from "./ui/api.js";
import { announce } from "./ui/notices.js";
import { set, state, update } from "./ui/store.js";

const NOTHING = { plan: null, story: null, planning: false, planError: null, diagnosis: null, diagnosisError: null, compared: null, loop: null, report: null };

/** The network of the settings: loaded before, carried by the link, or generated. */
async function networkOf(settings) {
  const loaded = settings.kept ? await kept(settings.kept) : null;
  if (loaded) return loaded;
  if (settings.given) {
    const { network, parameters } = await unpack(settings.given);
    return { network, schedule: parameters.schedule ?? [], origin: settings.file || "from the link" };
  }
  if (settings.kept) {
    const file = settings.file ? `“${settings.file}”` : "a network";
    throw new InputError("", `This link shows ${file}, which was loaded in another browser and is too large for a link. Load its file here.`);
  }
  return { network: generate(settings), schedule: [], origin: `${settings.topology}, seed ${settings.seed}` };
}

/** Show the network of the settings. */
export async function makeNetwork() {
  const { settings } = state;
  try {
    const { network, schedule, origin, report = null } = await networkOf(settings);
    if (state.settings.kept !== settings.kept) return;
    update({ ...NOTHING, network, schedule, origin, report, networkError: null, unlinkable: Boolean(settings.kept && !settings.given) });
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
export async function takeNetwork({ network, parameters, report = null }, origin, options = {}) {
  const schedule = parameters.schedule ?? [];
  const content = { network, schedule, origin, report };
  const id = await keep(JSON.stringify([toWire(network), schedule, origin]), content);
  const given = (await pack(network, schedule)) ?? "";
  update({ ...NOTHING, ...content, networkError: null, unlinkable: given === "" });
  // If all train, nothing flows: without a wish, at most a third of a small network is sampled.
  const cap = { size: Math.min(state.settings.size, Math.max(1, Math.floor(network.n / 3))) };
  set({ ...cap, ...fromParameters(parameters), given, kept: id, file: origin, step: 0, planned: 0, device: -1, run: "", norms: "" }, options);
  announce(`Network with ${network.n} devices loaded`);
}

/** Show a network that this browser kept. */
export async function openKept({ id, origin }) {
  set({ kept: id, given: "", file: origin, step: 0, planned: 0, device: -1, run: "", norms: "" });
  await makeNetwork();
  if (state.network) set({ size: Math.min(state.settings.size, state.network.n) }, { quiet: true });
}

/** Back to a generated one. */
export async function generateWith(patch, options = {}) {
  set({ ...patch, given: "", kept: "", file: "", step: 0, device: -1, run: "", norms: "" }, options);
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
    const all = explained();
    const plan = await call("POST", "/v1/plans", planRequest(all ? { explain_all: true } : {}), { signal });
    // Of which devices the plan tells what they would have added: of all, or of those that were asked for.
    Object.assign(plan, { told: all, asked: [] });
    plan.seconds = (performance.now() - begin) / 1000;
    const story = replay(network, schedule, plan);
    update({ plan, story, planning: false });
    set({ step: Math.min(state.settings.step, plan.steps.length) });
    announce(`Planned: ${plan.sampled.length} devices sampled, objective ${plan.objective.toPrecision(4)}`);
  } catch (error) {
    if (error.name === "AbortError") return;
    // A request that cannot be planned has no plan. If the service failed, the last plan stays on show.
    const refused = error.document?.status >= 400 && error.document.status < 500 && error.document.status !== 429;
    update({ ...(refused ? { plan: null, story: null } : {}), planning: false, planError: error });
  }
}

/** Ask for the scores of one device in every round, and show them in the plan; the same request gives the same plan. */
export async function explainDevice(device) {
  const { plan } = state;
  const asked = [...plan.asked, device];
  try {
    const { trace } = await call("POST", "/v1/plans", planRequest({ explain: asked }));
    if (state.plan === plan) update({ plan: { ...plan, trace, asked } });
  } catch (error) {
    update({ planError: error });
  }
}

/** Move through the plan by itself, unless the person wants no motion. */
export function play() {
  if (!state.story || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  set({ step: 0 });
  update({ playing: true });
}

/** Plan for an example, and play. */
export async function showExample({ file, settings }) {
  if (file) {
    const answer = await request("GET", `/studio/examples/${file}`);
    await takeNetwork(await readFiles([new File([await answer.blob()], file)]), file, { stay: true });
    set({ ...settings, view: "plan" }, { quiet: true });
    await makePlan();
  } else {
    set({ view: "plan", planned: 1 }, { quiet: true });
    await generateWith(settings, { stay: true });
  }
  play();
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

// How long to wait before asking a service again that was away, in milliseconds.
const AGAIN = 2000;

export async function loadSamplers() {
  try {
    const { samplers, default: standard } = await call("GET", "/v1/samplers");
    update({ samplers, standard, samplersError: null });
    if (!state.settings.sampler) SETTINGS.sampler.fallback = standard;
    if (!state.settings.sampler) set({ sampler: standard }, { quiet: true });
  } catch (error) {
    update({ samplersError: error });
    if (error.document?.status !== 401) setTimeout(loadSamplers, AGAIN);
  }
}

/** The story on show: the closed loop's in its view, else the plan's. */
export const shownStory = () => (state.settings.view === "loop" ? (state.loop?.story ?? null) : state.story);
