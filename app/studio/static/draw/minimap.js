// A small drawing of one plan, for setting several side by side.
import { INKS } from "./palette.js";
import { fit, project } from "./camera.js";
import { drawFlows } from "./flows.js";

/** Devices as dots, sampled ones and their flows in the flow colour; `frame` is the step shown. */
export function drawMinimap(canvas, network, places, story, step, theme) {
  const ratio = Math.min(2, window.devicePixelRatio || 1);
  const [width, height] = [canvas.clientWidth || 300, canvas.clientHeight || 190];
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  const camera = fit(places, width, height, 14);
  pen.fillStyle = `rgba(${INKS[theme].edge},0.45)`;
  const dot = network.n > 400 ? 2 : 3;
  for (let i = 0; i < network.n; i += 1) {
    const [x, y] = project(camera, places, i);
    pen.fillRect(x - dot / 2, y - dot / 2, dot, dot);
  }
  const frame = story.frames[Math.min(step, story.frames.length - 1)];
  const most = frame.flows.datapoints.reduce((a, b) => Math.max(a, b), 1e-12);
  drawFlows(pen, { camera, places, theme, unit: 3 }, frame, most, null);
  for (const device of story.sampled) {
    const [x, y] = project(camera, places, device);
    pen.beginPath();
    pen.arc(x, y, 6, 0, 2 * Math.PI);
    pen.fillStyle = INKS[theme].sampled;
    pen.fill();
    pen.strokeStyle = INKS[theme].ring;
    pen.lineWidth = 1.5;
    pen.stroke();
  }
}
