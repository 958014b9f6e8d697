// A run in the page: its periods joined into one plan.

/** The periods so far as one plan, with means and worst values over all steps. */
export function joined(periods, sampler) {
  const steps = periods.flatMap((period) => period.steps.map((step) => ({ ...step, sampled: period.sampled })));
  const mean = (name) => steps.reduce((sum, step) => sum + step[name], 0) / steps.length;
  const worst = (name) => Math.max(...steps.map((step) => step[name]));
  const [first] = periods;
  return {
    sampler,
    // All that ever train; each step tells who does.
    sampled: [...new Set(periods.flatMap((period) => period.sampled))],
    scores: first.scores,
    transfer: first.transfer,
    trace: first.trace,
    steps,
    objective: mean("objective"),
    sampling_term: mean("sampling_term"),
    statistical_term: mean("statistical_term"),
    relative_gap: worst("relative_gap"),
    max_violation: worst("max_violation"),
  };
}

/** The reports so far, as a link carries them: the norm, and after an x each device that was lost. */
export const writeReports = (reports) => reports.map(({ norm, lost }) => [Number(norm.toPrecision(6)), ...lost].join("x")).join(",");

export const readReports = (text) =>
  text
    .split(",")
    .filter(Boolean)
    .map((one) => one.split("x").map(Number))
    .map(([norm, ...lost]) => ({ norm, lost }))
    .filter(({ norm, lost }) => Number.isFinite(norm) && norm >= 0 && lost.every((device) => Number.isInteger(device)));

/** Devices named in a text, each once. */
export const readDevices = (text) => [...new Set((text.match(/\d+/g) ?? []).map(Number))];
