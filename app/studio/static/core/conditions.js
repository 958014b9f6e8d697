// What holds at a step: the network, changed by the schedule from its steps on.
import { makeLinks } from "./network.js";

/** The spans of constant conditions: [{first, devices, links}], first of each counted from step 1. */
export function segments(network, schedule = []) {
  const spans = [{ first: 1, devices: network.devices, links: network.links }];
  for (const change of [...schedule].sort((a, b) => a.step - b.step)) {
    const last = spans.at(-1);
    const columns = Object.entries(change.devices ?? {}).map(([name, values]) => [name, Float64Array.from(values)]);
    const devices = { ...last.devices, ...Object.fromEntries(columns) };
    const links = change.topology ? makeLinks(change.topology, network.n, "/schedule") : last.links;
    if (change.step <= last.first) spans.pop();
    spans.push({ first: Math.max(1, change.step), devices, links });
  }
  return spans;
}

/** The span that step t falls into. */
export function at(spans, step) {
  let found = spans[0];
  for (const span of spans) if (span.first <= step) found = span;
  return found;
}

/** min P_i(s)/p_i(s) over the steps s ≥ t, the most that device i may hold (eq. 10). */
export function ceiling(spans, device, step) {
  const current = at(spans, step);
  return Math.min(
    ...spans
      .filter((span) => span.first >= current.first)
      .map(({ devices }) =>
        devices.processing_cost[device] > 0
          ? devices.processing_capacity[device] / devices.processing_cost[device]
          : Infinity,
      ),
  );
}
