// The drawn network, and what mouse, fingers and keys do to it.
import { shownStory } from "../actions.js";
import { figure } from "../core/format.js";
import { nameOf } from "../core/network.js";
import { NetworkMap } from "../draw/map.js";
import { blocked, covering, groupsOf } from "../draw/roles.js";
import { find } from "./dom.js";
import { announce } from "./notices.js";
import { listen, set, state, update } from "./store.js";
import { setUpTools } from "./tools.js";

/** The map, for whoever looks at what it draws. */
export const drawing = { map: null };

export function setUpStage() {
  const canvas = find("#map");
  const map = (drawing.map = new NetworkMap(canvas));
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
  const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
  const show = follower(map);
  listen(["network", "settings", "story", "loop", "playing"], () => {
    const { network, settings, playing } = state;
    if (!network) return;
    const story = settings.view === "network" ? null : shownStory();
    show(network, story);
    map.playing = playing && !still();
    const moved = map.selected !== settings.device;
    map.selected = settings.device;
    map.tell({ story, step: settings.step });
    // A device that was chosen elsewhere on the page comes into sight.
    if (moved && settings.device >= 0 && settings.device < network.n && !map.sees(settings.device)) map.fly(settings.device, still());
  });
  pointer(canvas, map, tip);
  keys(canvas, map);
  setUpTools(map, (device) => map.fly(device, still()));
  return map;
}

/** Gives the map a new scene when something of it changed: the network, who trains, the colour, the layout. */
function follower(map) {
  let drawn = {};
  return (network, story) => {
    const { colour, layout, step } = state.settings;
    const members = story?.frames[Math.min(step, story.frames.length - 1)].members ?? null;
    const now = { network, colour, layout, story, members };
    if (Object.keys(now).every((name) => drawn[name] === now[name])) return;
    const cover = members === null ? null : drawn.members === members && drawn.story === story ? drawn.cover : covering(network, story, members);
    const groups = layout !== "grouped" ? null : drawn.cover === cover && drawn.network === network && drawn.groups ? drawn.groups : groupsOf(network, cover);
    drawn = { ...now, cover, groups };
    const roles = { cover: colour === "coverage" ? cover : null, blocked: blocked(network, state.schedule), first: members ?? new Set() };
    map.show(network, colour === "coverage" ? "capacity" : colour, roles, layout, groups);
  };
}

const place = (canvas, event) => {
  const box = canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
};

function describe(map, device) {
  const story = map.story;
  const chosen = story?.order.get(device);
  const role = chosen !== undefined ? `, sampled as number ${chosen + 1}` : blocked(map.network, state.schedule)[device] ? ", cannot be sampled" : "";
  return `Device ${nameOf(map.network, device)}: ${figure(map.heldBy(device))} datapoints${role}`;
}

function pointer(canvas, map, tip) {
  const fingers = new Map();
  let [dragged, spread] = [0, 0];
  const apart = () => {
    const [a, b] = [...fingers.values()];
    return Math.hypot(a[0] - b[0], a[1] - b[1]);
  };
  const between = () => {
    const [a, b] = [...fingers.values()];
    return [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
  };
  // One finger scrolls the page, as everywhere; two move and zoom the drawing.
  canvas.addEventListener("touchmove", (event) => event.touches.length > 1 && event.cancelable && event.preventDefault(), { passive: false });
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
        map.pan((x - before[0]) / 2, (y - before[1]) / 2);
        map.zoom(now / spread, ...between());
        spread = now;
      } else if (event.pointerType !== "touch" && dragged > 4) map.pan(x - before[0], y - before[1]);
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
