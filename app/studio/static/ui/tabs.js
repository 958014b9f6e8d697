// The views, as tabs.
import { compareView } from "../views/compare.js";
import { comparePanel } from "../views/compared.js";
import { loopView } from "../views/loop.js";
import { networkView } from "../views/network.js";
import { planView } from "../views/plan.js";
import { validateView } from "../views/validate.js";
import { validatePanel } from "../views/validated.js";
import { find } from "./dom.js";
import { listen, set, state } from "./store.js";

const VIEWS = { network: networkView, plan: planView, compare: compareView, loop: loopView, validate: validateView };

export function setUpTabs() {
  const tabs = [...document.querySelectorAll("[role=tab]")];
  for (const [name, build] of Object.entries(VIEWS)) build(find(`#panel-${name}`));
  comparePanel(find("#result-compare"));
  validatePanel(find("#result-validate"));
  for (const tab of tabs) {
    tab.addEventListener("click", () => set({ view: tab.dataset.view }));
    tab.addEventListener("keydown", (event) => {
      const way = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!way) return;
      const next = tabs[(tabs.indexOf(tab) + way + tabs.length) % tabs.length];
      set({ view: next.dataset.view });
      next.focus();
    });
  }
  const show = () => {
    const { view } = state.settings;
    for (const tab of tabs) {
      const on = tab.dataset.view === view;
      tab.setAttribute("aria-selected", String(on));
      tab.tabIndex = on ? 0 : -1;
      find(`#panel-${tab.dataset.view}`).hidden = !on;
    }
    document.body.dataset.view = view;
    for (const name of ["compare", "validate"]) find(`#result-${name}`).hidden = view !== name;
    find("#stage").hidden = view === "compare" || view === "validate";
  };
  listen(["settings"], show);
  show();
}
