// A run in the page: its periods joined into one plan.

/** The periods so far as one plan, with means and worst values over all steps. */
export function joined(periods, sampler) {
  const steps = periods.flatMap((period) => period.steps);
  const mean = (name) => steps.reduce((sum, step) => sum + step[name], 0) / steps.length;
  const worst = (name) => Math.max(...steps.map((step) => step[name]));
  const [first] = periods;
  return {
    sampler,
    sampled: first.sampled,
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

/** The norms told so far, as a link carries them. */
export const writeNorms = (norms) => norms.map((norm) => String(Number(norm.toPrecision(6)))).join(",");

export const readNorms = (text) => text.split(",").filter(Boolean).map(Number).filter((norm) => Number.isFinite(norm) && norm >= 0);
