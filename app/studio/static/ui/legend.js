// What the drawing's sizes, colours and lines mean.
import { shownStory } from "../actions.js";
import { figure } from "../core/format.js";
import { SHADES, shade } from "../draw/palette.js";
import { COLOURS } from "../draw/scene.js";
import { choiceBox, find, h, s } from "./dom.js";
import { listen, set, state } from "./store.js";

const OPTIONS = [
  ["coverage", "covered by"],
  ["capacity", "processing capacity"],
  ["receive", "receive capacity"],
  ["transmit", "transmit budget"],
];

export function setUpLegend() {
  const scale = s(
    "svg",
    { width: 72, height: 12, role: "img", "aria-label": "from little, dark, to much, light" },
    Array.from({ length: SHADES }, (_, i) => s("rect", { x: i * 6, width: 6, height: 12, fill: shade(i) })),
  );
  const box = choiceBox({ name: "colour", value: state.settings.colour, options: OPTIONS, onset: (colour) => set({ colour }) });
  box.setAttribute("aria-label", "What colour shows");
  const [least, most] = [h("span", { id: "least" }), h("span", { id: "most" })];
  const ranked = h("span", {}, "by rank: ", least, " ", scale, " ", most);
  const tinted = h("span", {}, "tint = the sampled device with a rim of that colour holds similar data, grey = none does");
  const planned = h("span", {}, "orange = sampled and sent, dashed ring = a budget of the device binds");
  find("#legend").append(
    h("span", {}, "colour = ", box),
    ranked,
    tinted,
    planned,
    h("span", {}, "size = data"),
    h("span", {}, "stronger link = more similar"),
    h("span", {}, "× = cannot be sampled"),
  );
  const show = () => {
    const drawn = state.settings.view !== "network" && Boolean(shownStory());
    const { colour } = state.settings;
    box.querySelector("[value=coverage]").hidden = !drawn;
    box.value = colour === "coverage" && !drawn ? "capacity" : colour;
    planned.hidden = !drawn;
    tinted.hidden = box.value !== "coverage";
    ranked.hidden = !tinted.hidden;
    if (!state.network || ranked.hidden) return;
    const values = COLOURS[box.value](state.network);
    least.textContent = figure(values.reduce((a, b) => Math.min(a, b), Infinity));
    most.textContent = figure(values.reduce((a, b) => Math.max(a, b), -Infinity));
  };
  listen(["settings", "network", "story", "loop"], show);
  show();
}
