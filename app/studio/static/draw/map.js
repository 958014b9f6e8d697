// The network on a canvas. What stands still is drawn by a worker into a picture; what moves is drawn over it.
import { bindingAt } from "../core/gauges.js";
import { apart } from "./apart.js";
import { fit, moved, project, zoomed } from "./camera.js";
import { drawBinding, drawFlows, drawMark, drawSampled, ringOf } from "./flows.js";
import { groupedPlaces } from "./grouped.js";
import { drawLabels } from "./labels.js";
import { makeScene, radiusOf } from "./scene.js";

const here = (name) => new URL(name, import.meta.url);

export class NetworkMap {
  constructor(canvas) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
    this.layer = new Worker(here("layer.worker.js"), { type: "module" });
    this.layer.onmessage = ({ data }) => this.pictureArrived(data);
    this.theme = "light";
    this.story = null;
    this.step = 0;
    this.selected = this.hovered = -1;
    this.playing = false;
    this.ticket = 0;
    this.busy = this.stale = this.queued = this.viewed = false;
    this.onsettled = () => {};
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement);
  }

  /**
   * Show a network. `roles` are who covers and who is blocked, `layout` is "own", "force" or "grouped", and `groups` is
   * needed for the last. Without positions a layout settles in the background.
   */
  show(network, colour, roles, layout = "own", groups = null) {
    const same = this.network === network && this.layoutName === layout && (layout !== "grouped" || this.groups === groups);
    Object.assign(this, { network, layoutName: layout, groups, cover: roles.cover });
    this.radius = radiusOf(network);
    this.scene = makeScene(network, colour, roles);
    this.layer.postMessage({ scene: this.scene });
    if (same) return this.redraw();
    this.picture?.close?.();
    this.picture = null;
    delete this.canvas.dataset.drawn;
    this.ticket += 1;
    this.story = null;
    this.layout?.terminate();
    this.touched = false;
    if (layout === "grouped") return this.place(groupedPlaces(groups, roles.first), true);
    if (network.positions && layout === "own") return this.place(network.positions, true);
    this.layoutPlaces = this.places = null;
    this.layout = new Worker(here("layout.worker.js"), { type: "module" });
    this.layout.onmessage = ({ data }) => data.ticket === this.ticket && this.place(data, data.done);
    return this.layout.postMessage({ n: network.n, ends: this.scene.ends, ticket: this.ticket });
  }

  place({ x, y }, done) {
    this.layoutPlaces = { x, y };
    if (!this.touched) this.fitAll();
    else this.spread();
    if (done) {
      this.layout?.terminate();
      this.onsettled(this.layoutPlaces);
    }
  }

  /** Devices that would cover one another are drawn apart: each has room for its ring, and for what it will hold in the plan. */
  spread() {
    const { layoutPlaces, network, radius, story } = this;
    const look = { unit: this.crowd, radius, network };
    const radii = Float64Array.from({ length: network.n }, (_, i) => ringOf(look, null, null, i));
    for (const frame of story?.frames ?? []) {
      for (const device of frame.members) radii[device] = Math.max(radii[device], ringOf(look, story, frame, device));
    }
    this.places = apart(layoutPlaces, this.home, radii, this.width * this.height);
    this.layer.postMessage({ places: this.places });
    this.redraw();
  }

  tell({ story, step }) {
    const changed = this.story !== story;
    if (changed) {
      this.most = story ? Math.max(...story.frames.map((f) => f.flows.datapoints.reduce((a, b) => Math.max(a, b), 0)), 1e-12) : 0;
    }
    this.story = story;
    this.step = story ? Math.min(step, story.frames.length - 1) : 0;
    this.binding = new Set(story ? bindingAt(this.network, story, this.step).map(({ device }) => device) : []);
    if (changed && this.placed) this.spread();
    else this.paint();
  }

  resize() {
    const { clientWidth, clientHeight } = this.canvas.parentElement;
    if (!clientWidth || !clientHeight) return;
    this.ratio = Math.min(2, window.devicePixelRatio || 1);
    [this.width, this.height] = [clientWidth, clientHeight];
    this.canvas.width = Math.round(clientWidth * this.ratio);
    this.canvas.height = Math.round(clientHeight * this.ratio);
    if (this.layoutPlaces) this.touched ? this.redraw() : this.fitAll();
  }

  /** Whether devices have places and a camera looks at them; neither is so while a new network's layout settles. */
  get placed() {
    return Boolean(this.places && this.camera);
  }

  fitAll() {
    if (!this.width || !this.layoutPlaces) return;
    this.touched = false;
    this.flight = null;
    this.camera = fit(this.layoutPlaces, this.width, this.height);
    this.home = this.camera.scale;
    this.spread();
  }

  zoom(factor, x = this.width / 2, y = this.height / 2) {
    if (!this.placed) return;
    const scale = (this.camera.scale * factor) / this.home;
    if (scale < 0.2 || scale > 60) return;
    this.touched = true;
    this.flight = null;
    this.camera = zoomed(this.camera, factor, x, y);
    this.redraw();
  }

  pan(dx, dy) {
    if (!this.placed) return;
    this.touched = true;
    this.flight = null;
    this.camera = moved(this.camera, dx, dy);
    this.redraw();
  }

  /** Move the camera to a device, near enough to read names; at once where motion is unwelcome. */
  fly(device, still = false) {
    if (!this.placed || device < 0) return;
    const scale = Math.max(this.camera.scale, this.home * Math.min(12, Math.max(2.5, Math.sqrt(this.network.n / 12))));
    const [px, py] = [this.places.x[device], this.places.y[device]];
    const goal = { scale, x: this.width / 2 - px * scale, y: this.height / 2 - py * scale };
    this.touched = true;
    const [from, begin] = [this.camera, performance.now()];
    const flight = (this.flight = {});
    const move = (now) => {
      if (this.flight !== flight) return;
      const share = still ? 1 : Math.min(1, Math.max(0, now - begin) / 450);
      const eased = share * share * (3 - 2 * share);
      const between = (name) => from[name] + (goal[name] - from[name]) * eased;
      this.camera = { scale: between("scale"), x: between("x"), y: between("y") };
      this.redraw();
      if (share < 1) requestAnimationFrame(move);
    };
    move(begin);
  }

  /** Whether a device is within the canvas. */
  sees(device) {
    if (!this.placed) return false;
    const [x, y] = project(this.camera, this.places, device);
    return x > 10 && y > 10 && x < this.width - 10 && y < this.height - 10;
  }

  /** The radius in pixels of a device with mean data, where all are in sight: smaller in crowds. */
  get crowd() {
    return Math.min(9, Math.max(1.6, Math.sqrt((this.width * this.height) / this.network.n) * 0.16));
  }

  /** The same at the camera's scale: larger when zoomed in. */
  get unit() {
    return this.crowd * Math.min(3, Math.max(0.6, Math.sqrt(this.camera.scale / this.home)));
  }

  /** Ask for a new picture of what stands still; one at a time, the newest view wins. */
  redraw() {
    this.paint();
    if (!this.placed) return;
    delete this.canvas.dataset.drawn;
    if (this.busy) {
      this.stale = true;
      return;
    }
    this.busy = true;
    const { camera, theme, ratio } = this;
    const size = { width: this.canvas.width, height: this.canvas.height };
    const view = { ...size, ratio, camera, theme, unit: this.unit, dim: Boolean(this.story), ticket: this.ticket };
    this.layer.postMessage({ view });
  }

  pictureArrived({ picture, view }) {
    this.busy = false;
    if (view.ticket === this.ticket) {
      this.picture?.close();
      [this.picture, this.pictured] = [picture, view];
    }
    if (this.stale) {
      this.stale = false;
      this.redraw();
    } else this.paint();
  }

  paint() {
    if (this.queued) return;
    this.queued = true;
    requestAnimationFrame((now) => {
      this.queued = false;
      this.paintNow(now);
      if (this.playing && this.story) this.paint();
    });
  }

  paintNow(now) {
    const { pen, ratio, picture, pictured, camera } = this;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    if (!picture || !this.placed) return;
    // Until the worker has caught up, the last picture is moved and stretched.
    const grown = camera.scale / pictured.camera.scale;
    pen.setTransform(grown, 0, 0, grown, ratio * (camera.x - pictured.camera.x * grown), ratio * (camera.y - pictured.camera.y * grown));
    pen.drawImage(picture, 0, 0);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    const { places, theme, unit, radius, binding, network, cover, width, height } = this;
    const look = { camera, places, theme, unit, radius, binding, network, cover, width, height };
    const frame = this.story?.frames[this.step];
    if (frame) {
      drawFlows(pen, look, frame, this.most, this.playing ? (now / 900) % 1 : null);
      drawSampled(pen, look, this.story, frame);
      drawBinding(pen, look, this.story, frame);
    }
    const pointed = [this.selected, this.hovered].filter((device) => device >= 0 && device < network.n);
    for (const device of pointed) drawMark(pen, look, device, this.heldBy(device), device === this.selected);
    this.named = drawLabels(pen, look, this.story, frame, pointed);
    this.tellDrawn();
  }

  /** Mark the first drawing for whoever measures it, and say on the canvas that it shows the newest view. */
  tellDrawn() {
    if (!this.viewed) performance.mark("first-view");
    this.viewed = true;
    if (!this.busy) this.canvas.dataset.drawn = String(this.ticket);
  }

  heldBy(device) {
    const place = this.story?.order.get(device);
    return place === undefined ? this.network.devices.data[device] : this.story.frames[this.step].data[place];
  }

  /** The device under a point of the canvas, or −1. */
  deviceAt(x, y) {
    if (!this.placed) return -1;
    let [best, nearest] = [-1, Infinity];
    for (let i = 0; i < this.network.n; i += 1) {
      const [px, py] = project(this.camera, this.places, i);
      const away = Math.hypot(px - x, py - y) - Math.max(4, this.radius(this.heldBy(i)) * this.unit);
      if (away < Math.min(5, nearest)) [best, nearest] = [i, away];
    }
    return best;
  }

  /** The nearest device in a direction, for the arrow keys. */
  neighbourTowards(device, dx, dy) {
    if (!this.placed) return -1;
    if (device < 0) return 0;
    const [x, y] = project(this.camera, this.places, device);
    let [best, least] = [device, Infinity];
    for (let i = 0; i < this.network.n; i += 1) {
      const [px, py] = project(this.camera, this.places, i);
      const along = (px - x) * dx + (py - y) * dy;
      const across = Math.abs((px - x) * dy) + Math.abs((py - y) * dx);
      if (along > 0.5 && along + 2 * across < least) [best, least] = [i, along + 2 * across];
    }
    return best;
  }
}
