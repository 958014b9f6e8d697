// Puts the page together and starts it.
import { MADE_BY, loadSamplers, makeNetwork, makePlan } from "./actions.js";
import { fromHash } from "./core/settings.js";
import { setUpHeader } from "./ui/header.js";
import { setUpInspector } from "./ui/inspector.js";
import { setUpLegend } from "./ui/legend.js";
import { setUpStage } from "./ui/stage.js";
import { setUpTimebar } from "./ui/timebar.js";
import { setUpTabs } from "./ui/tabs.js";
import { state, update } from "./ui/store.js";

setUpHeader();
setUpStage();
setUpLegend();
setUpTimebar();
setUpInspector();
setUpTabs();

async function begin() {
  await makeNetwork();
  update({ settings: { ...state.settings } });
  await loadSamplers();
  if (state.settings.planned) await makePlan();
}

/** A link was followed, or the way back taken: show what the address says. */
async function follow() {
  const before = state.settings;
  const settings = fromHash(location.hash);
  update({ settings });
  if ([...MADE_BY, "given"].some((name) => before[name] !== settings[name])) await makeNetwork();
  if (settings.planned) await makePlan();
  else update({ plan: null, story: null, planError: null });
}
addEventListener("popstate", follow);

begin();
