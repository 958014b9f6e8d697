// Plans that a person keeps under a name, in this browser.
import { shelve, takeOff } from "../core/keeping.js";
import { coverage } from "../core/measures.js";
import { MADE_BY, toHash } from "../core/settings.js";
import { exact } from "../core/format.js";
import { button, field, h, renew } from "../ui/dom.js";
import { announce } from "../ui/notices.js";
import { loadShelf, shelfList, undoLine } from "../ui/shelf.js";
import { listen, state } from "../ui/store.js";

/** What made the network that is shown: plans of one maker can be drawn over each other. */
const maker = ({ kept, given, ...settings }) => kept || given || JSON.stringify(MADE_BY.map((name) => settings[name]));

const total = (story, name) => story.frames.reduce((sum, { flows }) => sum + flows[name].reduce((a, b) => a + b, 0), 0);

/** The plan shown, as it would be kept. */
export function shownPlan(name = "shown now") {
  const { plan, story, settings, network } = state;
  const { trace, scores, told, asked, ...rest } = plan;
  return {
    id: `plan-${hash(toHash({ ...settings, view: "plan", step: 0, device: -1, over: "" }))}`,
    kind: "plan",
    name,
    hash: toHash({ ...settings, view: "plan", step: 0, device: -1, over: "" }),
    network: settings.kept,
    maker: maker(settings),
    plan: rest,
    sent: total(story, "datapoints"),
    useful: total(story, "useful"),
    covered: coverage(network, story, story.frames.length - 1),
  };
}

const hash = (text) => Array.from(text).reduce((sum, letter) => (Math.imul(sum, 31) + letter.codePointAt(0)) >>> 0, 7).toString(16);

/** Keep the plan shown, and all that were kept. */
export function planShelf() {
  const box = h("input", { type: "text", name: "plan_name", maxlength: 80, placeholder: "tight budgets, S = 5" });
  const keep = async () => {
    if (!state.plan) return;
    const { sampler, size } = state.settings;
    const name = box.value.trim() || `${sampler}, S = ${size}, ${state.origin}`;
    await shelve(shownPlan(name));
    box.value = "";
    announce(`Kept as ${name}`);
    await loadShelf();
  };
  box.addEventListener("keydown", (event) => event.key === "Enter" && keep());
  const maker = h("div", {}, field("Keep this plan as", box), h("div", { class: "row" }, button("Keep", keep, { id: "keep-plan" })));
  const list = h("div");
  const show = () => {
    maker.hidden = !state.plan;
    if (list.querySelector(".renaming")) return;
    const kept = (state.shelf ?? []).filter(({ kind }) => kind === "plan");
    const shown = state.plan && kept.length ? shownPlan().id : "";
    const rows = kept.map((row) => ({ ...row, about: `objective ${exact(row.plan.objective)}`, current: row.id === shown }));
    renew(list, [
      rows.length > 0 && h("h3", {}, "Kept plans"),
      rows.length > 0 && shelfList(rows, { open: (row) => (location.hash = row.hash), over: Boolean(state.plan), remove }),
      undoLine("plan"),
    ].filter(Boolean));
  };
  listen(["shelf", "plan", "deleted"], show);
  let before = "";
  listen(["settings"], () => {
    const now = `${state.settings.view} ${state.settings.over}`;
    if (state.settings.view === "plan" && !state.shelf) loadShelf();
    if (now !== before) show();
    before = now;
  });
  show();
  return h("div", {}, maker, list);
}

/** Take a plan off the shelf; what brings it back. */
async function remove({ about, current, ...row }) {
  await takeOff(row.id);
  await loadShelf();
  return async () => {
    await shelve(row);
    await loadShelf();
  };
}
