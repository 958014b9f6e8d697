// Make or load a network; see what it is like.
import { diagnose, generateWith, openKept, planRequest, readFiles, takeNetwork } from "../actions.js";
import { figure, plural } from "../core/format.js";
import { listKept } from "../core/keeping.js";
import { readText } from "../core/loading.js";
import { nameOf, toWire } from "../core/network.js";
import { button, choiceBox, facts, field, h, numberBox, renew, save } from "../ui/dom.js";
import { empty, loading, problem } from "../ui/notices.js";
import { callKey, snippetBox } from "../ui/snippets.js";
import { listen, set, state } from "../ui/store.js";

const CHOICES = [
  ["topology", "Topology", [["geometric", "Geometric"], ["erdos-renyi", "Erdős–Rényi"], ["small-world", "Small world"], ["scale-free", "Scale-free"]]],
  ["budgets", "Budgets", [["loose", "Loose"], ["tight", "Tight"], ["scarce", "Scarce"]]],
  ["sizes", "Data per device", [["uneven", "Uneven"], ["even", "Nearly even, as in the paper"]]],
];
const NUMBERS = [
  ["n", "Devices N", 1, 5000, 1],
  ["degree", "Links per device", 0, 200, "any"],
  ["labels", "Labels per device", 1, 10, 1],
  ["stragglers", "Stragglers, %", 0, 100, 1],
  ["seed", "Seed", 0, 2147483647, 1],
];

export function networkView(panel) {
  const make = h("div", { class: "fields" });
  const load = loader();
  const summary = h("div", { "aria-live": "polite" });
  const calls = snippetBox(
    () => [{ method: "POST", path: "/v1/plans", body: planRequest({ dry_run: true }), file: "request.json" }],
    () => callKey(state),
  );
  const loaded = h("p", { class: "notice", id: "loaded", hidden: true });
  listen(["settings", "origin"], () => {
    loaded.hidden = !state.settings.kept && !state.settings.given;
    loaded.textContent = `${state.origin} is shown. A change here generates another network; Back returns to this one.`;
  });
  panel.append(h("h2", {}, "Network"), loaded, make, load, summary, calls.box);
  listen(["network", "settings"], calls.refresh);
  const showForm = () => {
    const { settings } = state;
    const onset = (name) => (value) => generateWith({ [name]: value });
    make.replaceChildren(
      ...CHOICES.slice(0, 1).map(([name, label, options]) => field(label, choiceBox({ name, value: settings[name], options, onset: onset(name) }))),
      ...NUMBERS.map(([name, label, min, max, step]) => field(label, numberBox({ name, value: settings[name], min, max, step, onset: onset(name) }))),
      ...CHOICES.slice(1).map(([name, label, options]) => field(label, choiceBox({ name, value: settings[name], options, onset: onset(name) }))),
      button("Another seed", () => generateWith({ seed: (state.settings.seed * 48271 + 11) % 2147483647 }), { class: "wide" }),
    );
  };
  let before = "";
  listen(["settings"], () => {
    const values = JSON.stringify([...CHOICES, ...NUMBERS].map(([name]) => state.settings[name]));
    if (values !== before && !make.contains(document.activeElement)) showForm();
    else if (values !== before) refresh(make);
    before = values;
  });
  showForm();
  listen(["network", "networkError", "diagnosis", "diagnosisError", "unlinkable", "origin", "report"], () => {
    renew(summary, summarised().filter(Boolean));
  });
  listen(["network", "settings"], () => {
    if (state.network && state.settings.view === "network" && !state.diagnosis && !state.diagnosisError) diagnose();
  });
}

function refresh(form) {
  for (const box of form.querySelectorAll("input, select")) box.value = String(state.settings[box.name]);
}

function loader() {
  const failed = h("div");
  const before = h("div", { class: "before" });
  const take = async (read, origin) => {
    failed.replaceChildren(loading("Reading"));
    try {
      await takeNetwork(await read(), origin);
      failed.replaceChildren();
    } catch (error) {
      box.open = true;
      if (error.document) return failed.replaceChildren(problem(error));
      const document = { title: "That is not a network", detail: error.detail ?? error.message };
      if (error.pointer) document.errors = [{ pointer: error.pointer, detail: error.detail }];
      if (error.pointer) delete document.detail;
      failed.replaceChildren(problem({ document }));
    }
    return undefined;
  };
  const takeFiles = (files) => files.length && take(() => readFiles(files), files.map(({ name }) => name).join(", "));
  const chooser = h("input", { type: "file", multiple: true, onchange: () => takeFiles([...chooser.files]) });
  const pasted = h("textarea", { rows: 3, spellcheck: "false", placeholder: '{"devices": …, "topology": …}' });
  const whole = document.documentElement;
  whole.addEventListener("dragover", (event) => {
    event.preventDefault();
    whole.classList.add("dropping");
  });
  for (const over of ["dragleave", "drop"]) whole.addEventListener(over, () => whole.classList.remove("dropping"));
  whole.addEventListener("drop", (event) => {
    event.preventDefault();
    const files = [...event.dataTransfer.files];
    if (files.length) set({ view: "network" });
    takeFiles(files);
  });
  const box = h(
    "details",
    { class: "loader" },
    h("summary", {}, "Load or paste one"),
    field("File", chooser, "A request, network or fleet as JSON, .npz, a mesh (JSON, GraphML, OLSR, B.A.T.M.A.N.), or CSV of devices and links; or drop it anywhere."),
    field("Or paste JSON", pasted),
    button("Use what is pasted", () => take(async () => readText(pasted.value), "pasted")),
    failed,
    before,
  );
  const list = async () => {
    const rows = await listKept();
    const line = (row) => h("li", {}, button(row.origin, () => openKept(row), { class: "link" }), ` ${plural(row.n, "device")}`);
    before.replaceChildren(...(rows.length ? [h("h3", {}, "Loaded before in this browser"), h("ul", { class: "past" }, rows.map(line))] : []));
  };
  listen(["origin"], list);
  box.addEventListener("toggle", list);
  return box;
}

function summarised() {
  const { network, networkError, diagnosis, diagnosisError, origin } = state;
  if (networkError) return [problem(networkError)];
  if (!network) return [empty("No network", "Make or load one above.")];
  const total = network.devices.data.reduce((sum, held) => sum + held, 0);
  const rows = [
    ["Shown", origin],
    ["Devices", network.n.toLocaleString("en")],
    ["Links", network.links.source.length.toLocaleString("en")],
    ["Datapoints", figure(total)],
    state.schedule.length > 0 && ["Changes in time", String(state.schedule.length)],
  ];
  return [
    facts(rows),
    state.report && reported(state.report),
    diagnosisError ? problem(diagnosisError) : diagnosis ? diagnosed(diagnosis) : loading("Looking at it"),
    state.unlinkable && h("p", { class: "muted" }, "It is too large for a link; send its file along."),
    button("Save as JSON", () => save("network.json", JSON.stringify(toWire(network))), { class: "quiet" }),
  ];
}

/** What an import found in the files and what it assumed. */
function reported({ format, found, assumed, notes }) {
  const lines = [
    `Read as ${format}: ${found.map(({ field: name, count }) => `${name} (${count})`).join(", ") || "names alone"}`,
    ...assumed.map(({ field: name, value, count }) => `Assumed ${name} = ${value} (${count})`),
    ...notes,
  ];
  return h("details", { open: true }, h("summary", {}, "What was assumed"), h("ul", {}, lines.map((line) => h("li", {}, line))));
}

function diagnosed({ eligible, n_devices, connectivity, tight, obstacles, ineligible, feasible }) {
  return h(
    "div",
    {},
    facts([
      ["Can be sampled", `${eligible} of ${n_devices}`],
      ["Parts", `${connectivity.components}, the largest of ${plural(connectivity.largest_component, "device")}`],
      ["Isolated", String(connectivity.isolated.count)],
      ["Hardly any room to receive", String(tight.receiving.count)],
      ["Can hardly send", String(tight.transmitting.count)],
    ]),
    !feasible && h("p", { class: "notice bad", role: "alert" }, "Fewer devices can be sampled than the plan asks for."),
    ineligible > 0 &&
      h(
        "details",
        {},
        h("summary", {}, `${plural(ineligible, "device")} cannot be sampled`),
        h("ul", {}, obstacles.map(({ device, reason }) => h("li", {}, button(nameOf(state.network, device), () => set({ device }), { class: "link", "aria-label": `Device ${nameOf(state.network, device)}` }), ` ${reason}`))),
      ),
  );
}
