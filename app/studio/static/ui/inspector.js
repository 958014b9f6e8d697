// A device's numbers, why it was or was not picked, and what binds it.
import { explainDevice, shownStory } from "../actions.js";
import { at, segments } from "../core/conditions.js";
import { figure, percent } from "../core/format.js";
import { gauges } from "../core/gauges.js";
import { obstacle, ranks } from "../core/measures.js";
import { linksOf, nameOf } from "../core/network.js";
import { closest, roundsOf } from "../core/reasons.js";
import { similarityAt } from "../core/replay.js";
import { tableOf } from "./table.js";
import { button, facts, field, find, h, numberBox, renew } from "./dom.js";
import { empty } from "./notices.js";
import { listen, set, state } from "./store.js";
import { summary } from "./summary.js";

const SHOWN_LINKS = 12;

export function setUpInspector() {
  const panel = find("#inspector-body");
  let queued = false;
  const later = () => {
    if (queued) return;
    queued = true;
    requestAnimationFrame(() => {
      queued = false;
      show(panel);
    });
  };
  listen(["network", "settings", "story", "loop", "plan", "overlaid", "places"], later);
  addEventListener("shade", () => {
    shown = {};
    later();
  });
}

let shown = {};
// The charts of a plan are drawn once; moving through time only moves their mark.
let summarised = null;

function show(panel) {
  const { network, settings } = state;
  const story = settings.view === "network" ? null : shownStory();
  const step = story ? Math.min(settings.step, story.frames.length - 1) : 0;
  const now = { network, story, step, device: settings.device, view: settings.view, trace: currentPlan()?.trace, laid: settings.over, overlaid: state.overlaid };
  const changed = Object.keys(now).filter((name) => shown[name] !== now[name]);
  if (!changed.length) return;
  shown = now;
  if (summarised && changed.every((name) => name === "step")) return summarised.mark(step);
  summarised = null;
  const focused = document.activeElement?.name === "device";
  renew(panel, content(network, story, step, settings.device));
  if (focused) panel.querySelector("input[name=device]")?.focus();
  return undefined;
}

function content(network, story, step, device) {
  if (!network) return [empty("No network yet", "Make or load one on the left.")];
  const box = numberBox({
    name: "device",
    value: device >= 0 ? device : "",
    min: 0,
    max: network.n - 1,
    onset: (value) => set({ device: value }),
  });
  box.required = false;
  const picker = h(
    "div",
    { class: "row" },
    field("Device", box),
    device >= 0 && button("Clear", () => set({ device: -1 }), { class: "quiet" }),
  );
  if (device < 0 || device >= network.n) {
    const about = empty("No device chosen", "Click one in the drawing, type its number, or use the arrow keys in the drawing.");
    if (!story || state.settings.view !== "plan" || !state.plan) return [picker, about];
    summarised = summary(network, story, state.plan);
    summarised.mark(step);
    return [picker, ...summarised.parts];
  }
  return [
    picker,
    numbers(network, story, step, device),
    h("h3", {}, "Why"),
    why(network, story, device),
    story && h("h3", {}, `Budgets at t = ${step}`),
    story && h("div", {}, gauges(network, story, step, device).map(meter)),
    links(network, story, step, device),
  ].filter(Boolean);
}

function numbers(network, story, step, device) {
  const { devices } = story ? at(story.spans, Math.max(1, step)) : network;
  const place = story?.order.get(device);
  const initially = network.devices.data[device];
  const held = place === undefined ? initially : story.frames[step].data[place];
  return facts([
    network.ids && ["Id", network.ids[device]],
    ["Data D", place === undefined ? figure(held) : `${figure(held)} (${figure(initially)} at first)`],
    ["Capacity P", figure(devices.processing_capacity[device])],
    ["Cost p", figure(devices.processing_cost[device])],
    ["Receive θ", figure(devices.receive_capacity[device])],
    ["Transmit Ψ", figure(devices.transmit_budget[device])],
    ["Links in / out", `${linksOf(network).into[device].length} / ${linksOf(network).out[device].length}`],
    network.devices.label_counts && ["Labels held", labels(network.devices.label_counts[device])],
  ]);
}

const labels = (row) => row.map((count, c) => (count > 0 ? `${c}: ${figure(count)}` : "")).filter(Boolean).join(", ");

function why(network, story, device) {
  const spans = story?.spans ?? segments(network, state.schedule);
  const hindrance = obstacle(network, spans, device);
  const place = ranks(network, device);
  const of = ` of ${network.n}`;
  const standing = facts([
    ["Rank by data", `${place.data.rank}${of}`],
    ["Rank by capacity P/p", `${place.capacity.rank}${of}`, "Datapoints it can process"],
    ["Rank by reach", `${place.reach.rank}${of}`, "Useful datapoints its neighbours could send it in a step"],
  ]);
  return h("div", {}, h("p", { class: "verdict" }, verdict(story, device, hindrance)), story && path(network, device), story && ask(device), standing);
}

/** How near a device that was passed over came, by the service's own numbers. */
function passedOver(plan, device) {
  const near = closest(roundsOf(plan?.trace, device));
  if (near) {
    const { number, pick, own, missed } = near;
    const winner = nameOf(state.network, pick.device);
    const scores = `it would have scored ${figure(own)}, device ${winner} scored ${figure(pick.score)}`;
    if (Math.abs(missed) <= 1e-9 * Math.abs(pick.score)) return `At pick ${number} it tied with device ${winner}; chance decided.`;
    if (missed < 0) return `At pick ${number} the search did not consider it: ${scores}.`;
    return `It came closest at pick ${number}, ${figure(missed)} short: ${scores}.`;
  }
  if (!plan?.trace?.length) return "This sampler keeps no record of its search.";
  return "It was never among the best candidates.";
}

function currentPlan() {
  return state.settings.view === "loop" ? state.loop?.plan : state.plan;
}

function verdict(story, device, hindrance) {
  if (hindrance) return `It cannot be sampled. ${hindrance}`;
  if (!story) return "It can be sampled.";
  const plan = currentPlan();
  const chosen = story.order.get(device);
  const sampler = plan?.sampler ?? state.settings.sampler;
  if (chosen === undefined) return `It could be sampled; ${sampler} chose others. ${passedOver(plan, device)}`;
  const score = plan?.scores?.[chosen];
  return `Picked as number ${chosen + 1} by ${sampler}${score === undefined ? "" : `, with score ${figure(score)}`}.`;
}

/** A large plan comes without every device's gains; one device's can be asked for. */
function ask(device) {
  const { plan, settings } = state;
  if (settings.view !== "plan" || !plan?.trace?.length || plan.told || plan.asked.includes(device)) return null;
  return button("Ask the service for its scores", () => explainDevice(device), { id: "explain-device" });
}

/** The rounds of the search in which this device was picked or passed over. */
function path(network, device) {
  const rounds = roundsOf(currentPlan()?.trace, device);
  if (!rounds.length) return null;
  return h(
    "ol",
    { class: "trace" },
    rounds.map(({ number, pick, own }) => {
      const name = (one) => `device ${nameOf(network, one)}`;
      const rule = `${pick.rule}${pick.previous === undefined ? "" : ` of ${name(pick.previous)}`}`;
      const bar = pick.percentile === undefined ? "" : `, at or above percentile ${pick.percentile}`;
      const outcome = pick.device === device ? `picked, with ${figure(pick.score)}` : `scored ${figure(own)}; ${name(pick.device)} scored ${figure(pick.score)}`;
      return h("li", {}, `Pick ${number}: ${rule}${bar}; ${pick.n_candidates} candidates. It was ${outcome}.`);
    }),
  );
}

/** A budget as a bar; a binding one is marked by word and pattern, not by colour alone. */
export function meter({ name, symbol, used, limit, share, binding }) {
  const fill = h("div", { class: binding ? "fill binding" : "fill" });
  fill.style.width = `${Math.min(100, 100 * share)}%`;
  return h(
    "div",
    { class: "gauge" },
    h("div", { class: "gauge-name" }, h("span", {}, `${name} `, h("small", {}, symbol)), binding && h("strong", {}, "binding")),
    h(
      "div",
      {
        class: "bar",
        role: "meter",
        "aria-label": `${name} budget`,
        "aria-valuemin": 0,
        "aria-valuemax": 100,
        "aria-valuenow": Math.min(100, Math.round(100 * share)),
        "aria-valuetext": `${figure(used)} of ${figure(limit)}${binding ? ", binding" : ""}`,
      },
      fill,
    ),
    h("small", {}, `${figure(used)} of ${figure(limit)} (${percent(share)})`),
  );
}

function links(network, story, step, device) {
  const { into, out } = linksOf(network);
  const sampled = story?.order.has(device);
  const numbers = sampled || !story ? into[device] : out[device].filter((j) => story.order.has(network.links.target[j]));
  if (!numbers.length) return story && !sampled ? h("p", { class: "muted" }, "It has no link to a sampled device.") : null;
  const similarity = story ? similarityAt(network, story, step) : null;
  const flows = story?.frames[step].flows;
  const rows = numbers.map((j) => {
    const [k, i] = [network.links.source[j], network.links.target[j]];
    const flow = flows ? flows.source.findIndex((source, f) => source === k && flows.target[f] === i) : -1;
    const now = similarity?.get(k * network.n + i);
    return [
      nameOf(network, sampled || !story ? k : i),
      network.links.similarity[j].toFixed(2),
      ...(story ? [(now ?? network.links.similarity[j]).toFixed(2)] : []),
      network.links.transmit_cost[j],
      ...(story ? [flow < 0 ? "–" : flows.fraction[flow], flow < 0 ? "–" : flows.datapoints[flow]] : []),
    ];
  });
  const sent = (row) => (typeof row.at(-1) === "number" ? row.at(-1) : -1);
  if (story) rows.sort((a, b) => sent(b) - sent(a));
  const head = [sampled || !story ? "From" : "To", "Λ(0)", ...(story ? [`Λ(${step})`] : []), "ψ", ...(story ? ["Φ", "sent"] : [])];
  const title = sampled || !story ? "Who can send to it" : "Sampled devices it can send to";
  return h(
    "details",
    { open: true },
    h("summary", {}, `${title} (${rows.length})`),
    tableOf([head, ...rows.slice(0, SHOWN_LINKS)]),
    rows.length > SHOWN_LINKS && h("p", { class: "muted" }, `and ${rows.length - SHOWN_LINKS} more`),
  );
}
