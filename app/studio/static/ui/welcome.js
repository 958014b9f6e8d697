// What this is, for whoever sees it for the first time, and networks to try it on.
import { showExample } from "../actions.js";
import { EXAMPLES } from "../core/examples.js";
import { button, find, h } from "./dom.js";
import { loading, problem } from "./notices.js";
import { listen, set, state, update } from "./store.js";

export function setUpWelcome() {
  const news = h("div");
  const own = () => {
    set({ view: "network" });
    const box = find(".loader");
    box.open = true;
    box.querySelector("input").focus();
  };
  const show = async (example) => {
    news.replaceChildren(loading(example.name));
    try {
      await showExample(example);
      news.replaceChildren();
    } catch (error) {
      news.replaceChildren(problem(error));
    }
  };
  const card = h(
    "div",
    { id: "welcome" },
    h("h2", {}, "Who should train, and which data should move?"),
    h("p", {}, "fedsift picks the few devices of an edge network that train a model, and plans which data their neighbours send them."),
    h("p", { class: "muted" }, "The drawing shows such a plan: orange devices train, and data flows to them step by step."),
    button("Plan for my own network", own, { class: "main", id: "own-network" }),
    h("h3", {}, "Or look at an example"),
    h("ul", { class: "examples" }, EXAMPLES.map((example) => h("li", {}, button(example.name, () => show(example)), h("small", {}, example.about)))),
    news,
    button("Change the settings of this plan", () => update({ first: false }), { class: "quiet", id: "to-settings" }),
  );
  find("#controls").prepend(card);
  const follow = () => {
    document.body.toggleAttribute("data-first", Boolean(state.first));
    card.hidden = !state.first;
  };
  listen(["first"], follow);
  follow();
}
