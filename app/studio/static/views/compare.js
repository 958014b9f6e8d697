// Compare: samplers, numbers of devices and budgets, planned by the service in one request.
import { comparedSamplers, comparisonParameters, comparisonRequest, countsFor } from "../core/comparison.js";
import { samplerChoices } from "../core/samplers.js";
import { call } from "../ui/api.js";
import { button, field, h, numberBox } from "../ui/dom.js";
import { announce } from "../ui/notices.js";
import { callKey, snippetBox } from "../ui/snippets.js";
import { listen, set, state, update } from "../ui/store.js";
import { keptFields } from "./plan.js";

/** Whether what is shown answers what is asked now. */
const isAnswered = () => state.compared?.network === state.network && state.compared.question === JSON.stringify(comparisonParameters(state));

let underWay = new AbortController();

/** Ask for the comparison that the settings say; the newest request wins. */
async function compare() {
  underWay.abort();
  underWay = new AbortController();
  const { signal } = underWay;
  const { network } = state;
  const question = JSON.stringify(comparisonParameters(state));
  const body = comparisonRequest(state);
  const count = body.samplers.length * body.sample_sizes.length * body.budget_scales.length * body.seeds.length;
  update({ compared: { ...state.compared, network, question, busy: count, error: null } });
  set({ compare: comparedSamplers(state).join(",") });
  try {
    const answer = await call("POST", "/v1/comparisons", body, { signal });
    if (state.network === network) update({ compared: { network, question, answer } });
    announce(`${count} plans compared`);
  } catch (error) {
    if (error.name !== "AbortError" && state.network === network) update({ compared: { ...state.compared, busy: 0, error } });
  }
}

export function compareView(panel) {
  const choices = h("fieldset", { class: "checks" });
  const sizes = h("div", { class: "fields" });
  const calls = snippetBox(
    () => [{ method: "POST", path: "/v1/comparisons", body: comparisonRequest(state), file: "comparison.json" }],
    () => callKey(state, comparedSamplers(state)),
  );
  listen(["network", "settings", "samplers"], calls.refresh);
  // Once there is a comparison it follows the settings.
  const howMany = () => set({ counts: countsFor(state.network.n).join(","), compare: comparedSamplers(state).join(",") });
  panel.append(
    h("h2", {}, "Compare"),
    h("p", { class: "muted" }, "Which sampler, and how many devices? Each combination is planned for the same network."),
    choices,
    sizes,
    h("div", { class: "row" }, button("Compare", compare, { class: "main", id: "compare-button" }), button("How many devices do I need?", howMany, { id: "how-many" })),
    h("details", {}, h("summary", {}, "Settings of the plans"), keptFields(["horizon", "period", "norm", "decay", "noise", "draw"], false)),
    calls.box,
  );
  let before = "";
  const show = () => {
    if (state.settings.view !== "compare") return;
    const { counts, scales, seeds, size, compare: named } = state.settings;
    const now = JSON.stringify([counts, scales, seeds, size, named, state.samplers.length, state.network?.n]);
    if (now === before) return;
    before = now;
    const focused = document.activeElement;
    const [name, value] = panel.contains(focused) ? [focused.name, focused.value] : [];
    sizes.replaceChildren(
      textField("Devices to sample S", "counts", counts || String(size), "[0-9]+(-[0-9]+)?( *, *[0-9]+(-[0-9]+)?)*", "As 5, or 2,4,8, or 1-10."),
      field("Seeds of each sampler", numberBox({ name: "seeds", value: seeds, min: 1, max: 100, onset: (count) => set({ seeds: count }) }), "Means and 95 % intervals are over these."),
      textField("Budgets times", "scales", scales, "[0-9.]+( *, *[0-9.]+)*", "1 as they are; 1,0.5 also halves what can be sent and received."),
    );
    choices.replaceChildren(...samplerBoxes(choices));
    if (name) panel.querySelector(`[name="${name}"]${name === "compared" ? `[value="${value}"]` : ""}`)?.focus();
  };
  listen(["settings", "samplers", "network"], show);
  // A link to a comparison makes it, and one that was made follows the settings.
  listen(["settings", "samplers", "network"], () => {
    const { view, compare: named } = state.settings;
    const wanted = view === "compare" && named && state.samplers.length && state.network;
    if (wanted && !isAnswered()) compare();
  });
}

function textField(label, name, value, pattern, hint) {
  const box = h("input", { type: "text", name, value, pattern, required: true, autocomplete: "off" });
  box.addEventListener("change", () => box.reportValidity() && set({ [name]: box.value.replaceAll(" ", "") }));
  return field(label, box, hint);
}

function samplerBoxes(choices) {
  const chosen = new Set(comparedSamplers(state));
  const checked = () => [...choices.querySelectorAll("input:checked")].map(({ value }) => value);
  const box = ({ name, description }) =>
    h("label", { title: description }, h("input", { type: "checkbox", name: "compared", value: name, checked: chosen.has(name), onchange: () => set({ compare: checked().join(",") }) }), name);
  const all = samplerChoices(state.samplers);
  const searches = all.filter(({ name }) => name.includes(":"));
  return [
    h("legend", {}, "Samplers"),
    ...all.filter(({ name }) => !name.includes(":")).map(box),
    ...(searches.length ? [h("details", { open: searches.some(({ name }) => chosen.has(name)) }, h("summary", {}, "By other objectives"), searches.map(box))] : []),
  ];
}
