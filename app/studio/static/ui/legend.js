// What the drawing's sizes, colours and lines mean.
import { SHADES, shade } from "../draw/palette.js";
import { choiceBox, find, h, s } from "./dom.js";
import { listen, set, state } from "./store.js";

const OPTIONS = [
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
  const flows = h("span", {}, "orange = sampled and flows, dashed ring = a budget binds");
  find("#legend").append(
    h("span", {}, "size = data"),
    h("span", {}, "colour = ", box, " ", scale),
    h("span", {}, "stronger link = more similar"),
    flows,
  );
  const show = () => {
    box.value = state.settings.colour;
    flows.hidden = state.settings.view === "network";
  };
  listen(["settings"], show);
  show();
}
