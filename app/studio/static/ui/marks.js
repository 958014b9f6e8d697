// What stands in a chart: lines with bands, points with intervals, bars.
import { figure } from "../core/format.js";
import { paper, write } from "./axes.js";
import { s } from "./dom.js";

const pointsOf = (xs, ys, x, y) => Array.from(xs, (value, j) => [x(value), y(ys[j])]).filter(([, place]) => Number.isFinite(place));
const joined = (points) => points.map(([px, py]) => `${px.toFixed(1)},${py.toFixed(1)}`).join(" ");

/** A line and its band; an open dot at its end says that it still grows. */
export function drawLine(svg, one, { x, y, colours }) {
  const stroke = colours.line(one.look.colour);
  if (one.low) {
    const edge = (values) => pointsOf(one.x, values.map((value) => Math.min(y.high, Math.max(y.low, value))), x, y);
    svg.append(s("polygon", { points: joined([...edge(one.high), ...edge(one.low).reverse()]), fill: stroke, "fill-opacity": 0.14 }));
  }
  const points = pointsOf(one.x, one.y, x, y);
  svg.append(s("polyline", { points: joined(points), fill: "none", stroke, "stroke-width": 2.2, "stroke-dasharray": one.look.dash }, s("title", {}, one.name)));
  const last = points.at(-1);
  if (last && (one.growing || points.length === 1)) svg.append(s("circle", { class: one.growing ? "growing" : "", cx: last[0], cy: last[1], r: 4, fill: one.growing ? colours.paper : stroke, stroke, "stroke-width": 2 }));
}

/** Points, each with its interval if it has one; those that nothing beats are filled, and larger. */
export function drawPoints(svg, one, { x, y, colours }) {
  const stroke = colours.line(one.look.colour);
  one.x.forEach((value, j) => {
    const [px, py] = [x(value), y(one.y[j])];
    const [low, high] = [one.low?.[j], one.high?.[j]];
    if (Number.isFinite(low) && high > low) svg.append(s("line", { x1: px, x2: px, y1: y(Math.max(low, y.low)), y2: y(Math.min(high, y.high)), stroke, "stroke-width": 1.5 }));
    const front = one.front?.[j];
    svg.append(s("circle", { cx: px, cy: py, r: front ? 6 : 4.5, fill: front ? stroke : colours.paper, stroke, "stroke-width": 2 }, s("title", {}, one.labels?.[j] ?? one.name)));
  });
}

const LINE = 26;
const LETTER = 6.5; // the width of one, about

/** Bars, `width` wide: rows of {name, value, text?, look}; a missing value is said to be so. */
export function drawBars(rows, { about, xLabel, colours, width }) {
  const size = { width, height: rows.length * LINE + 40 };
  const svg = paper(size, about, colours);
  const most = Math.max(...rows.map(({ value }) => value ?? 0), 1e-12);
  const longest = (texts) => LETTER * Math.max(0, ...texts.map((text) => text.length));
  const left = longest(rows.map(({ name }) => name)) + 14;
  // For the words behind bars; where there is no bar, there is room.
  const room = longest(rows.filter(({ value }) => value).map(({ text, value }) => text ?? figure(value))) + 14;
  rows.forEach(({ name, value, text, look }, i) => {
    const top = 8 + i * LINE;
    const length = Math.max(0, ((size.width - left - room) * (value ?? 0)) / most);
    const colour = colours.line(look.colour);
    svg.append(write(colours, left - 8, top + 15, name, { "text-anchor": "end" }));
    // As the lines: filled where data is offloaded, framed where it is not.
    const fill = look.dash ? { fill: colours.paper, stroke: colour, "stroke-width": 2, "stroke-dasharray": "5 3" } : { fill: colour };
    if (length > 0) svg.append(s("rect", { x: left, y: top + 3, width: length, height: LINE - 8, ...fill }));
    svg.append(write(colours, left + length + 6, top + 15, text ?? figure(value)));
  });
  svg.append(write(colours, width / 2, size.height - 10, xLabel, { "text-anchor": "middle" }));
  return svg;
}
