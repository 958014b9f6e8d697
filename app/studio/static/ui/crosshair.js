// Values under the pointer, or under the arrow keys, in a chart.
import { figure } from "../core/format.js";
import { write } from "./axes.js";
import { s } from "./dom.js";
import { announce } from "./notices.js";

/** All x of the shown series, in order. */
const stops = (series) => [...new Set(series.flatMap((one) => Array.from(one.x)))].sort((a, b) => a - b);

const spread = ({ low, high }, j) => (low && high && high[j] > low[j] ? ` (${figure(low[j])} to ${figure(high[j])})` : "");

/** What is told at an x: a line for each series that has a value there. */
const toldAt = (series, x) =>
  series.flatMap((one) => {
    const j = Array.from(one.x).indexOf(x);
    return j < 0 ? [] : [`${one.labels?.[j] ?? one.name}: ${figure((one.told ?? one.y)[j])}${one.told ? "" : spread(one, j)}`];
  });

/** A line at the nearest x with the values there; gone when the pointer or the focus leaves. */
export function addCrosshair(svg, series, { x, box, colours, width, xLabel }) {
  const hair = s("g", { class: "hair", "pointer-events": "none" });
  const all = stops(series);
  svg.append(hair);
  if (!all.length) return;
  let shown = -1;
  const show = (place) => {
    shown = place;
    const told = [`${xLabel} ${figure(all[place])}`, ...toldAt(series, all[place])];
    const at = x(all[place]);
    const size = 6.6 * Math.max(...told.map((line) => line.length)) + 14;
    const left = Math.max(2, at + 8 + size > width ? at - 8 - size : at + 8);
    hair.replaceChildren(
      s("line", { x1: at, x2: at, y1: box.top, y2: box.bottom, stroke: colours.text }),
      s("rect", { x: left, y: box.top, width: size, height: 15 * told.length + 8, rx: 4, fill: colours.paper, stroke: colours.grid, "fill-opacity": 0.95 }),
      ...told.map((line, i) => write(colours, left + 6, box.top + 15 + 15 * i, line)),
    );
    return told.join(", ");
  };
  const clear = () => ((shown = -1), hair.replaceChildren());
  svg.addEventListener("pointerleave", clear);
  svg.addEventListener("blur", clear);
  svg.addEventListener("pointermove", (event) => {
    const frame = svg.getBoundingClientRect();
    const at = x.back(((event.clientX - frame.left) / frame.width) * width);
    show(all.reduce((best, value, i) => (Math.abs(value - at) < Math.abs(all[best] - at) ? i : best), 0));
  });
  svg.addEventListener("keydown", (event) => {
    const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === "Escape") clear();
    if (!way) return;
    event.preventDefault();
    announce(show(Math.max(0, Math.min(all.length - 1, shown < 0 && way < 0 ? all.length - 1 : shown + way))));
  });
}
