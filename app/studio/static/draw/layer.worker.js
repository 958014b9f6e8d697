// Draws what stands still, links and devices, off the page's thread; the page only copies the picture.
import { INKS, shade, tint } from "./palette.js";

const CLASSES = 6; // of similarity
let scene = null;
let order = []; // of drawing
let places = null;

self.onmessage = ({ data }) => {
  if (data.scene) {
    scene = data.scene;
    order = Array.from(scene.radius.keys()).sort((a, b) => scene.radius[b] - scene.radius[a]);
  }
  if (data.places) places = data.places;
  if (!data.view || !scene || !places) return;
  const { view } = data;
  const canvas = new OffscreenCanvas(view.width, view.height);
  const pen = canvas.getContext("2d", { alpha: true });
  pen.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
  drawLinks(pen, view);
  drawDevices(pen, view);
  const picture = canvas.transferToImageBitmap();
  self.postMessage({ picture, view }, [picture]);
};

function drawLinks(pen, { camera, theme, dim }) {
  const { ends, similarity } = scene;
  const count = ends.length / 2;
  // The more links, the fainter each: a dense network stays readable.
  const faint = Math.min(1, Math.sqrt(900 / Math.max(1, count))) * (dim ? 0.45 : 1);
  pen.lineWidth = count > 20000 ? 0.5 : 1;
  for (let kind = 0; kind < CLASSES; kind += 1) {
    pen.beginPath();
    for (let e = 0; e < count; e += 1) {
      if (Math.min(CLASSES - 1, Math.floor(similarity[e] * CLASSES)) !== kind) continue;
      const [a, b] = [ends[2 * e], ends[2 * e + 1]];
      pen.moveTo(camera.x + places.x[a] * camera.scale, camera.y + places.y[a] * camera.scale);
      pen.lineTo(camera.x + places.x[b] * camera.scale, camera.y + places.y[b] * camera.scale);
    }
    pen.strokeStyle = `rgba(${INKS[theme].edge},${faint * (0.14 + (0.62 * kind) / (CLASSES - 1))})`;
    pen.stroke();
  }
}

/** The largest first, each with its own cross: where two overlap, neither's mark seems to be the other's. */
function drawDevices(pen, { camera, theme, unit }) {
  for (const i of order) {
    const [x, y] = [camera.x + places.x[i] * camera.scale, camera.y + places.y[i] * camera.scale];
    const size = scene.radius[i] * unit;
    pen.beginPath();
    pen.arc(x, y, size, 0, 2 * Math.PI);
    pen.fillStyle = fillOf(i, theme);
    pen.fill();
    pen.strokeStyle = INKS[theme].rim;
    pen.lineWidth = 1;
    pen.stroke();
    if (scene.blocked[i]) drawCross(pen, x, y, Math.max(3.5, size * 0.9), theme);
  }
}

const STRENGTHS = 4; // of cover

/** Who covers it, if that is shown, else its shade. */
function fillOf(i, theme) {
  const { cover, colour } = scene;
  if (!cover) return shade(colour[i]);
  if (cover.hue[i] < 0) return INKS[theme].grey;
  return tint(theme, cover.hue[i], 0.4 + (0.6 * Math.round(cover.strength[i] * STRENGTHS)) / STRENGTHS);
}

/** On a device that cannot be sampled. */
function drawCross(pen, x, y, arm, theme) {
  pen.beginPath();
  pen.moveTo(x - arm, y - arm);
  pen.lineTo(x + arm, y + arm);
  pen.moveTo(x - arm, y + arm);
  pen.lineTo(x + arm, y - arm);
  pen.strokeStyle = INKS[theme].ring;
  pen.lineWidth = 1.6;
  pen.stroke();
}
