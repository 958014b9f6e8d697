// All that the page knows, in one place; views listen for what they show.
import { FIRST } from "../core/examples.js";
import { MADE_BY, PLANNED_BY, fromHash, toHash } from "../core/settings.js";

const first = location.hash.length < 2;

export const state = {
  settings: { ...fromHash(location.hash), ...(first ? FIRST : {}) },
  // Whether this is a first visit, with nothing changed yet.
  first,
  samplers: [],
  network: null,
  schedule: [],
  origin: "",
  diagnosis: null,
  plan: null,
  story: null,
  request: null,
  playing: false,
  compared: null,
  loop: null,
  job: null,
  jobs: null,
};

const listeners = [];

/** Call `act` whenever one of these keys changes ("settings" for any setting). */
export function listen(keys, act) {
  listeners.push({ keys: new Set(keys), act });
}

/** Change something and tell whoever listens, once. */
export function update(patch) {
  const changed = new Set(Object.keys(patch).filter((key) => state[key] !== patch[key]));
  if (!changed.size) return;
  Object.assign(state, patch);
  for (const { keys, act } of listeners) if ([...changed].some((key) => keys.has(key))) act();
}

// What a person changes on purpose; how it is looked at (step, device, colour) is not.
const CHANGES = ["view", ...MADE_BY, "given", "kept", ...PLANNED_BY, "compare", "counts", "scales", "seeds", "baseline", "run", "job", "over"];

/**
 * Change settings; the address follows. A change of what is shown is a new entry in the history, so Back undoes it.
 * `quiet` changes make no entry, and `stay` does not end a first visit.
 */
export function set(patch, { quiet = false, stay = false } = {}) {
  const before = state.settings;
  const settings = { ...before, ...patch };
  if (Object.keys(patch).every((name) => before[name] === patch[name])) return;
  if (!quiet && CHANGES.some((name) => before[name] !== settings[name])) {
    // The entry that is left keeps what it showed last.
    flush();
    history.pushState(null, "", `#${toHash(settings)}`);
    update({ settings, first: state.first && stay });
  } else {
    update({ settings });
    later();
  }
}

let timer = 0;

// Browsers refuse many changes of the address in a short time, as when a slider is dragged.
function later() {
  if (!timer) timer = setTimeout(flush, 250);
}

function flush() {
  clearTimeout(timer);
  timer = 0;
  history.replaceState(null, "", `#${toHash(state.settings)}`);
}

/** The address of what is seen now. */
export function address() {
  flush();
  return location.href;
}
