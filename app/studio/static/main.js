// Puts the page together and starts it.
import { loadSamplers, makeNetwork, makePlan, play } from "./actions.js";
import { MADE_BY, PLANNED_BY, fromHash } from "./core/settings.js";
import { setUpHeader } from "./ui/header.js";
import { setUpInspector } from "./ui/inspector.js";
import { setUpLegend } from "./ui/legend.js";
import { setUpOverlays } from "./ui/overlays.js";
import { setUpStage } from "./ui/stage.js";
import { setUpTimebar } from "./ui/timebar.js";
import { setUpTabs } from "./ui/tabs.js";
import { setUpWelcome } from "./ui/welcome.js";
import { state, update } from "./ui/store.js";

setUpHeader();
setUpStage();
setUpLegend();
setUpTimebar();
setUpInspector();
setUpTabs();
setUpWelcome();
setUpOverlays();

async function begin() {
  await makeNetwork();
  update({ settings: { ...state.settings } });
  await loadSamplers();
  if (state.settings.planned) await makePlan();
  if (state.first) play();
}

/** A link was followed, or the way back taken: show what the address says. */
async function follow() {
  const before = state.settings;
  const settings = fromHash(location.hash);
  update({ settings });
  const differs = (names) => names.some((name) => before[name] !== settings[name]);
  const remade = differs([...MADE_BY, "given", "kept"]);
  if (remade) await makeNetwork();
  if (!settings.planned) update({ plan: null, story: null, planError: null });
  else if (remade || !state.plan || differs(PLANNED_BY)) await makePlan();
}
addEventListener("popstate", follow);

begin();
