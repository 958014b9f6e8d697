// Lines over steps, and bars, as SVG that carries its own colours: it can be saved as it is.
import { figure } from "../core/format.js";
import { DASHES, SCHEMES, SCHEMES_DARK } from "../draw/palette.js";
import { addCrosshair } from "./crosshair.js";
import { h, s, save } from "./dom.js";

const SIZE = { width: 520, height: 230, left: 62, right: 12, top: 14, bottom: 36 };
const NARROW = 340; // in a side panel

export function inks() {
  const dark = document.documentElement.dataset.shade === "dark";
  return dark
    ? { text: "#d5dbe6", grid: "#384152", paper: "#171c25", lines: SCHEMES_DARK }
    : { text: "#39414f", grid: "#d9dee7", paper: "#ffffff", lines: SCHEMES };
}

/** Round numbers that span low..high. */
function ticks(low, high, wanted) {
  const raw = (high - low) / wanted || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((m) => m * power >= raw);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step * 1e-9; value += step) found.push(Number(value.toPrecision(12)));
  return found;
}

function frame(title, xLabel, yLabel, colours, size) {
  const text = (x, y, content, more = {}) => s("text", { x, y, fill: colours.text, "font-size": 12, ...more }, content);
  const svg = s("svg", {
    viewBox: `0 0 ${size.width} ${size.height}`,
    role: "img",
    "aria-label": title,
    "font-family": "system-ui, sans-serif",
    class: "chart",
  });
  svg.append(s("rect", { width: size.width, height: size.height, fill: colours.paper }));
  svg.append(text(size.left + (size.width - size.left - size.right) / 2, size.height - 6, xLabel, { "text-anchor": "middle" }));
  svg.append(text(13, size.top + 90, yLabel, { "text-anchor": "middle", transform: `rotate(-90 13 ${size.top + 90})` }));
  return { svg, text };
}

/** Lines: series of {name, x, y, low?, high?, look?}; `mark` is an x to point out, `target` a y, `to` the last x. */
export function lineChart({ title, xLabel, yLabel, series, mark, target, from, to, narrow = false }) {
  const colours = inks();
  const width = narrow ? NARROW : SIZE.width;
  const columns = narrow ? 2 : 3;
  const size = { ...SIZE, width, height: SIZE.height + 18 * Math.ceil(series.length / columns) };
  const bottom = SIZE.height - SIZE.bottom;
  const { svg, text } = frame(title, xLabel, yLabel, colours, { ...size, height: SIZE.height });
  svg.setAttribute("viewBox", `0 0 ${size.width} ${size.height}`);
  svg.firstChild.setAttribute("height", size.height);
  const all = (name) => series.flatMap((one) => Array.from(one[name] ?? []));
  const [x0, x1] = [Math.min(...all("x")), Math.max(...all("x"), to ?? -Infinity, Math.min(...all("x")) + 1e-9)];
  const heights = [...all("y"), ...all("low"), ...all("high"), ...(target === undefined ? [] : [target])];
  let [y0, y1] = [Math.min(...heights, from ?? Infinity), Math.max(...heights)];
  if (y1 - y0 < 1e-12) [y0, y1] = [y0 - Math.abs(y0) * 0.05 - 1e-9, y1 + Math.abs(y1) * 0.05 + 1e-9];
  const px = (x) => size.left + ((x - x0) / (x1 - x0)) * (size.width - size.left - size.right);
  const py = (y) => bottom - ((y - y0) / (y1 - y0)) * (bottom - size.top);
  for (const y of ticks(y0, y1, 6)) {
    svg.append(s("line", { x1: size.left, x2: size.width - size.right, y1: py(y), y2: py(y), stroke: colours.grid }));
    svg.append(text(size.left - 6, py(y) + 4, figure(y), { "text-anchor": "end" }));
  }
  for (const x of ticks(x0, x1, 8).filter(Number.isInteger)) svg.append(text(px(x), bottom + 16, String(x), { "text-anchor": "middle" }));
  if (target !== undefined) svg.append(s("line", { x1: size.left, x2: size.width - size.right, y1: py(target), y2: py(target), stroke: colours.text, "stroke-dasharray": "3 4" }));
  series.forEach((one, i) => {
    const stroke = colours.lines[(one.look?.colour ?? i) % colours.lines.length];
    const dash = one.look?.dash ?? DASHES[i % DASHES.length];
    const points = (ys) => Array.from(one.x, (x, j) => `${px(x).toFixed(1)},${py(ys[j]).toFixed(1)}`);
    if (one.low) svg.append(s("polygon", { points: [...points(one.high), ...points(one.low).reverse()].join(" "), fill: stroke, "fill-opacity": 0.14 }));
    svg.append(s("polyline", { points: points(one.y).join(" "), fill: "none", stroke, "stroke-width": 2.2, "stroke-dasharray": dash }, s("title", {}, one.name)));
    const [lx, ly] = [size.left + (i % columns) * ((width - size.left) / columns), SIZE.height + 6 + 18 * Math.floor(i / columns)];
    svg.append(s("line", { x1: lx, x2: lx + 24, y1: ly, y2: ly, stroke, "stroke-width": 2.6, "stroke-dasharray": dash }));
    svg.append(text(lx + 30, ly + 4, one.name));
  });
  if (mark !== undefined) svg.append(s("line", { class: "mark", x1: px(mark), x2: px(mark), y1: size.top, y2: bottom, stroke: colours.text, "stroke-width": 1.5, "stroke-dasharray": "2 3" }));
  addCrosshair(svg, series, { px, x0, x1, top: size.top, bottom, width: size.width, colours });
  svg.place = (x) => svg.querySelector(".mark")?.setAttribute("x1", px(x)) ?? svg.querySelector(".mark")?.setAttribute("x2", px(x));
  return svg;
}

/** Bars: rows of {name, value, text?, look?}; a missing value is said to be so. */
export function barChart({ title, xLabel, rows }) {
  const colours = inks();
  const [line, left] = [26, 140];
  const size = { width: 500, height: rows.length * line + 40 };
  const most = Math.max(...rows.map(({ value }) => value ?? 0), 1e-12);
  const room = rows.some(({ text }) => (text ?? "").length > 12) ? 200 : 90; // for the words behind the bars
  const svg = s("svg", { viewBox: `0 0 ${size.width} ${size.height}`, role: "img", "aria-label": title, "font-family": "system-ui, sans-serif", class: "chart" });
  svg.append(s("rect", { ...size, fill: colours.paper }));
  rows.forEach(({ name, value, text, look }, i) => {
    const y = 8 + i * line;
    const length = value === undefined || value === null ? 0 : ((size.width - left - room) * value) / most;
    svg.append(s("text", { x: left - 8, y: y + 15, "text-anchor": "end", "font-size": 12, fill: colours.text }, name));
    svg.append(s("rect", { x: left, y: y + 3, width: Math.max(0, length), height: line - 8, fill: colours.lines[(look?.colour ?? i) % colours.lines.length] }));
    svg.append(s("text", { x: left + length + 6, y: y + 15, "font-size": 12, fill: colours.text }, text ?? figure(value)));
  });
  svg.append(s("text", { x: left, y: size.height - 10, "font-size": 12, fill: colours.text }, xLabel));
  return svg;
}

/** A chart with its caption, its numbers as a table, and ways to take it along. */
export function figureOf(svg, caption, table, name) {
  return h(
    "figure",
    {},
    h("figcaption", {}, caption),
    svg,
    h(
      "div",
      { class: "row" },
      h("button", { type: "button", class: "quiet", onclick: () => savePng(svg, `${name}.png`) }, "PNG"),
      h("button", { type: "button", class: "quiet", onclick: () => save(`${name}.csv`, csv(table), "text/csv") }, "CSV"),
    ),
    h("details", { class: "numbers" }, h("summary", {}, "Numbers"), h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `${caption}: numbers` }, tableOf(table))),
  );
}

export function tableOf([head, ...rows]) {
  return h(
    "table",
    {},
    h("thead", {}, h("tr", {}, head.map((cell) => h("th", { scope: "col" }, cell)))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell) => h("td", {}, typeof cell === "number" ? figure(cell) : (cell ?? "–")))))),
  );
}

export const csv = (rows) =>
  rows.map((row) => row.map((cell) => (/[",\n]/.test(String(cell ?? "")) ? `"${String(cell).replaceAll('"', '""')}"` : (cell ?? ""))).join(",")).join("\n") + "\n";

/** The drawing as a picture, twice as large. */
export async function savePng(svg, name) {
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  const copy = svg.cloneNode(true);
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }));
  await image.decode();
  const canvas = h("canvas", { width: 2 * width, height: 2 * height });
  canvas.getContext("2d").drawImage(image, 0, 0, 2 * width, 2 * height);
  URL.revokeObjectURL(image.src);
  save(name, await new Promise((done) => canvas.toBlob(done, "image/png")), "image/png");
}
