// Which of several values is the best, where floating point makes no winner.

// Plans are solved to a relative gap of about 1e-6: what differs by less is the same.
const SAME = 1e-6;

export const ties = (a, b) => Math.abs(a - b) <= SAME * Math.max(Math.abs(a), Math.abs(b));

/** The best of these ("low" or "high"), or null where nothing is better than the rest. */
export function bestOf(values, way) {
  const given = values.filter((one) => one !== null);
  if (!way || given.length < 2) return null;
  const best = way === "low" ? Math.min(...given) : Math.max(...given);
  return given.every((one) => ties(one, best)) ? null : best;
}
