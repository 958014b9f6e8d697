// Above the drawing: find a device, choose a layout, zoom.
import { findDevice, nameOf } from "../core/network.js";
import { choiceBox, find, h, save } from "./dom.js";
import { announce } from "./notices.js";
import { listen, set, state } from "./store.js";

const OFFERED = 12;

/** `fly` moves the drawing to a device. */
export function setUpTools(map, fly) {
  find("#zoom-in").addEventListener("click", () => map.zoom(1.5));
  find("#zoom-out").addEventListener("click", () => map.zoom(1 / 1.5));
  find("#zoom-fit").addEventListener("click", () => map.fitAll());
  find("#map-png").addEventListener("click", () => map.canvas.toBlob((blob) => save("network.png", blob, "image/png")));
  setUpSearch(fly);
  setUpLayouts();
}

function setUpSearch(fly) {
  const box = find("#find");
  const offers = find("#found");
  box.addEventListener("input", () => {
    const text = box.value.trim().toLowerCase();
    const ids = state.network?.ids ?? [];
    offers.replaceChildren(...ids.filter((id) => text && id.toLowerCase().includes(text)).slice(0, OFFERED).map((id) => h("option", { value: id })));
    box.setCustomValidity("");
  });
  const go = () => {
    if (!state.network || !box.value.trim()) return;
    const device = findDevice(state.network, box.value);
    box.setCustomValidity(device < 0 ? "There is no such device." : "");
    if (!box.reportValidity()) return;
    set({ device });
    fly(device);
    announce(`Device ${nameOf(state.network, device)} found`);
  };
  box.addEventListener("change", go);
  box.addEventListener("keydown", (event) => event.key === "Enter" && go());
}

const layoutsOf = (network) => [
  ["own", network?.positions ? "by place" : "by links"],
  ...(network?.positions ? [["force", "by links"]] : []),
  ["grouped", "in groups"],
];

function setUpLayouts() {
  const slot = find("#layout-slot");
  let shown = null;
  const show = () => {
    if (shown?.network === state.network && shown.layout === state.settings.layout) return;
    shown = { network: state.network, layout: state.settings.layout };
    const box = choiceBox({ name: "layout", value: state.settings.layout, options: layoutsOf(state.network), onset: (layout) => set({ layout }) });
    box.setAttribute("aria-label", "Layout");
    const focused = slot.contains(document.activeElement);
    slot.replaceChildren(box);
    if (focused) box.focus();
  };
  listen(["network", "settings"], show);
}
