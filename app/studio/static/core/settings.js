// Every setting of the page, and its form in the address: a link reproduces the view.

const whole = (fallback, low, high) => ({ fallback, read: bounded(low, high, (text) => Math.round(Number(text))) });
const number = (fallback, low, high) => ({ fallback, read: bounded(low, high, Number) });
const choice = (fallback, options) => ({ fallback, options, read: (text) => (options.includes(text) ? text : fallback) });
const words = (fallback, pattern) => ({ fallback, read: (text) => (pattern.test(text) ? text : fallback) });

function bounded(low, high, convert) {
  return (text, fallback) => {
    const value = convert(text);
    return Number.isFinite(value) ? Math.min(high, Math.max(low, value)) : fallback;
  };
}

export const SETTINGS = {
  view: choice("network", ["network", "plan", "compare", "loop", "validate"]),
  topology: choice("geometric", ["erdos-renyi", "geometric", "small-world", "scale-free"]),
  n: whole(100, 1, 5000),
  degree: number(8, 0, 200),
  budgets: choice("loose", ["loose", "tight", "scarce"]),
  sizes: choice("uneven", ["even", "uneven"]),
  labels: whole(3, 1, 10),
  stragglers: whole(5, 0, 100),
  seed: whole(1, 0, 2147483647),
  given: words("", /^[\w-]*$/),
  kept: words("", /^[0-9a-f]{0,16}$/),
  file: words("", /^[^<>]{0,120}$/),
  sampler: words("", /^[\w:.+-]{0,64}$/),
  size: whole(5, 1, 1000),
  horizon: whole(10, 1, 1000),
  period: whole(5, 1, 1000),
  solver: choice("fast", ["fast", "cvxpy"]),
  transfer: choice("send_once", ["send_once", "redraw"]),
  norm: number(1, 0, 1e12),
  decay: number(1, 1, 1e6),
  noise: number(1, 0, 1e12),
  draw: whole(0, 0, 2147483647),
  planned: whole(0, 0, 1),
  step: whole(0, 0, 1000),
  device: whole(-1, -1, 4999),
  colour: choice("coverage", ["coverage", "capacity", "receive", "transmit"]),
  layout: choice("own", ["own", "force", "grouped"]),
  compare: words("", /^[\w:.+,-]*$/),
  counts: words("", /^[\d, -]{0,200}$/),
  scales: words("1", /^[\d., ]{1,100}$/),
  seeds: whole(5, 1, 100),
  baseline: words("", /^[\w:.+-]{0,64}$/),
  over: words("", /^[\w,-]*$/),
  run: words("", /^(run_[0-9a-f]{32})?$/),
  norms: words("", /^[\d.,ex+-]*$/),
  job: words("", /^[\w-]*$/),
};

/** What makes a generated network, and what makes a plan. */
export const MADE_BY = ["topology", "n", "degree", "budgets", "sizes", "labels", "stragglers", "seed"];
export const PLANNED_BY = ["sampler", "size", "horizon", "period", "solver", "transfer", "norm", "decay", "noise", "draw"];

/** The settings when nothing is said. */
export const defaults = () =>
  Object.fromEntries(Object.entries(SETTINGS).map(([name, { fallback }]) => [name, fallback]));

/** The settings that an address carries; what it does not know or cannot read stays as it is by default. */
export function fromHash(hash) {
  const settings = defaults();
  for (const [name, text] of new URLSearchParams(hash.replace(/^#/, ""))) {
    const kind = Object.hasOwn(SETTINGS, name) ? SETTINGS[name] : undefined;
    if (kind) settings[name] = kind.read(text, kind.fallback);
  }
  return settings;
}

/** The address of these settings: the view, and what differs from the defaults. An empty one is a first visit. */
export function toHash(settings) {
  const changed = Object.entries(SETTINGS).filter(([name, { fallback }]) => name === "view" || settings[name] !== fallback);
  return new URLSearchParams(changed.map(([name]) => [name, String(settings[name])])).toString();
}

/** The settings that a request's parameters stand for. */
export function fromParameters(parameters) {
  const names = {
    sample_size: "size",
    horizon: "horizon",
    aggregation_period: "period",
    gradient_noise: "noise",
    sampler: "sampler",
    solver: "solver",
    transfer: "transfer",
    seed: "draw",
  };
  const found = {};
  for (const [theirs, ours] of Object.entries(names)) {
    if (theirs in parameters) found[ours] = SETTINGS[ours].read(String(parameters[theirs]), SETTINGS[ours].fallback);
  }
  if (parameters.gradient?.norm !== undefined) found.norm = parameters.gradient.norm;
  if (parameters.gradient?.decay !== undefined) found.decay = parameters.gradient.decay;
  return found;
}

/** A request's parameters for these settings. */
export function toParameters(settings, schedule = []) {
  const parameters = {
    sample_size: settings.size,
    horizon: settings.horizon,
    aggregation_period: settings.period,
    gradient: { norm: settings.norm, decay: settings.decay },
    gradient_noise: settings.noise,
    solver: settings.solver,
    transfer: settings.transfer,
    seed: settings.draw,
  };
  if (settings.sampler) parameters.sampler = settings.sampler;
  if (schedule.length) parameters.schedule = schedule;
  return parameters;
}
