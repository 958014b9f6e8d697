// The drawn network, and what mouse, fingers and keys do to it.
import { shownStory } from "../actions.js";
import { figure } from "../core/format.js";
import { NetworkMap } from "../draw/map.js";
import { find, save } from "./dom.js";
import { announce } from "./notices.js";
import { listen, set, state, update } from "./store.js";

export function setUpStage() {
  const canvas = find("#map");
  const map = new NetworkMap(canvas);
  const tip = find("#tip");
  map.theme = document.documentElement.dataset.shade;
  addEventListener("shade", () => {
    map.theme = document.documentElement.dataset.shade;
    map.redraw();
  });
  map.onsettled = (places) => {
    canvas.dataset.settled = String(map.ticket);
    update({ places });
  };
  let drawn = {};
  listen(["network", "settings", "story", "loop", "playing"], () => {
    const { network, settings, playing } = state;
    if (!network) return;
    if (drawn.network !== network || drawn.colour !== settings.colour) {
      drawn = { network, colour: settings.colour };
      map.show(network, settings.colour);
    }
    map.playing = playing && !matchMedia("(prefers-reduced-motion: reduce)").matches;
    map.selected = settings.device;
    map.tell({ story: settings.view === "network" ? null : shownStory(), step: settings.step });
  });
  pointer(canvas, map, tip);
  keys(canvas, map);
  find("#zoom-in").addEventListener("click", () => map.zoom(1.5));
  find("#zoom-out").addEventListener("click", () => map.zoom(1 / 1.5));
  find("#zoom-fit").addEventListener("click", () => map.fitAll());
  find("#map-png").addEventListener("click", () => {
    canvas.toBlob((blob) => save("network.png", blob, "image/png"));
  });
  return map;
}

const place = (canvas, event) => {
  const box = canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
};

function describe(map, device) {
  const story = map.story;
  const chosen = story?.order.get(device);
  const role = chosen === undefined ? "" : `, sampled as number ${chosen + 1}`;
  return `Device ${device}: ${figure(map.heldBy(device))} datapoints${role}`;
}

function pointer(canvas, map, tip) {
  const fingers = new Map();
  let [dragged, spread] = [0, 0];
  const apart = () => {
    const [a, b] = [...fingers.values()];
    return Math.hypot(a[0] - b[0], a[1] - b[1]);
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, place(canvas, event));
    dragged = 0;
    if (fingers.size === 2) spread = apart();
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = place(canvas, event);
    const before = fingers.get(event.pointerId);
    if (before) {
      fingers.set(event.pointerId, [x, y]);
      dragged += Math.hypot(x - before[0], y - before[1]);
      if (fingers.size === 2) {
        const now = apart();
        map.zoom(now / spread, x, y);
        spread = now;
      } else if (dragged > 4) map.pan(x - before[0], y - before[1]);
      return;
    }
    const device = map.deviceAt(x, y);
    if (device !== map.hovered) {
      map.hovered = device;
      map.paint();
    }
    tip.hidden = device < 0;
    canvas.style.cursor = device < 0 ? "grab" : "pointer";
    if (device < 0) return;
    tip.textContent = describe(map, device);
    tip.style.left = `${Math.min(x + 14, map.width - 210)}px`;
    tip.style.top = `${y + 14}px`;
  });
  const up = (event) => {
    if (fingers.delete(event.pointerId) && dragged <= 4 && event.type === "pointerup") {
      set({ device: map.deviceAt(...place(canvas, event)) });
    }
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", () => {
    tip.hidden = true;
    map.hovered = -1;
    map.paint();
  });
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      map.zoom(Math.exp(-event.deltaY * 0.0015), ...place(canvas, event));
    },
    { passive: false },
  );
}

const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function keys(canvas, map) {
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !map.camera) return;
    if (event.key in WAYS && event.shiftKey) map.pan(...WAYS[event.key].map((way) => -60 * way));
    else if (event.key in WAYS) {
      const device = map.neighbourTowards(state.settings.device, ...WAYS[event.key]);
      set({ device });
      announce(describe(map, device));
    } else if (event.key === "+" || event.key === "=") map.zoom(1.3);
    else if (event.key === "-") map.zoom(1 / 1.3);
    else if (event.key === "0") map.fitAll();
    else if (event.key === "Escape") set({ device: -1 });
    else return;
    event.preventDefault();
  });
}
