// The time slider: moves through t, by hand or playing.
import { shownStory } from "../actions.js";
import { exact, figure, plural } from "../core/format.js";
import { find } from "./dom.js";
import { listen, set, state, update } from "./store.js";

const PACE = 800;

export function setUpTimebar() {
  const [bar, slider, play, label] = ["#timebar", "#time", "#play", "#time-label"].map(find);
  const last = () => (shownStory()?.frames.length ?? 1) - 1;
  const go = (step) => set({ step: Math.max(0, Math.min(last(), step)) });
  slider.addEventListener("input", () => go(Number(slider.value)));
  find("#back").addEventListener("click", () => go(state.settings.step - 1));
  find("#forth").addEventListener("click", () => go(state.settings.step + 1));
  play.addEventListener("click", () => {
    if (!state.playing && state.settings.step >= last()) go(0);
    update({ playing: !state.playing });
  });
  let timer = 0;
  listen(["playing"], () => {
    clearInterval(timer);
    play.textContent = state.playing ? "Pause" : "Play";
    play.setAttribute("aria-pressed", String(state.playing));
    if (!state.playing) return;
    timer = setInterval(() => {
      if (state.settings.step < last()) go(state.settings.step + 1);
      else update({ playing: false });
    }, PACE);
  });
  const show = () => {
    const story = shownStory();
    const mapped = ["network", "plan", "loop"].includes(state.settings.view);
    bar.hidden = !story || !mapped || state.settings.view === "network";
    if (!story) {
      if (state.playing) update({ playing: false });
      return;
    }
    const step = Math.min(state.settings.step, last());
    slider.max = String(last());
    slider.value = String(step);
    const frame = story.frames[step];
    const moved = frame.flows.datapoints.reduce((sum, value) => sum + value, 0);
    const details = step === 0 ? "before anything is sent" : `${plural(frame.flows.source.length, "transfer")}, ${figure(moved)} datapoints sent`;
    slider.setAttribute("aria-valuetext", `Step ${step} of ${last()}: ${details}`);
    label.textContent = `t = ${step} of ${last()} · ${details}${objectiveAt(step)}`;
  };
  listen(["settings", "story", "loop"], show);
}

function objectiveAt(step) {
  const steps = state.settings.view === "loop" ? state.loop?.plan.steps : state.plan?.steps;
  return step > 0 && steps?.[step - 1] ? ` · objective ${exact(steps[step - 1].objective)}` : "";
}
