// How much of its budgets a device uses at a step, and which of them bind.
import { at, ceiling } from "./conditions.js";

// What an interior point leaves unused of a budget that binds.
const BINDS = 0.999;

const gauge = (name, used, limit, symbol) => ({
  name,
  symbol,
  used,
  limit,
  share: limit > 0 ? used / limit : used > 0 ? 1 : 0,
  binding: used > 0 && used >= BINDS * limit,
});

/** The gauges of a device at a frame of the story; before the first step nothing is sent or received. */
export function gauges(network, story, step, device) {
  const frame = story.frames[step];
  const { devices } = at(story.spans, Math.max(1, step));
  const place = frame.members.has(device) ? story.order.get(device) : undefined;
  if (place === undefined) {
    const sent = frame.spent.get(device) ?? { cost: 0, share: 0 };
    return [
      gauge("transmit", sent.cost, devices.transmit_budget[device], "D Σ Φψ ≤ Ψ"),
      gauge("share sent", sent.share, 1, "Σ Φ ≤ 1"),
    ];
  }
  const load = gauge(
    "processing",
    devices.processing_cost[device] * frame.data[place],
    devices.processing_capacity[device],
    "p D ≤ P",
  );
  // A later, lower capacity may bind already now: what is received is kept.
  load.binding = frame.data[place] >= BINDS * ceiling(story.spans, device, Math.max(1, step));
  return [load, gauge("receive", frame.received[place], devices.receive_capacity[device], "R ≤ θ")];
}

/** All binding budgets of a frame: [{device, name}], sampled devices first. */
export function bindingAt(network, story, step) {
  const involved = [...story.frames[step].members, ...story.frames[step].spent.keys()];
  return involved.flatMap((device) =>
    gauges(network, story, step, device)
      .filter((one) => one.binding)
      .map((one) => ({ device, name: one.name })),
  );
}
