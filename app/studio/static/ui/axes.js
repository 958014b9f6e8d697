// Paper, scales and axes of the charts; a drawing carries its own colours, so that it can be saved as it is.
import { figure } from "../core/format.js";
import { onDark } from "../core/looks.js";
import { s } from "./dom.js";

export function inks() {
  const dark = document.documentElement.dataset.shade === "dark";
  return dark
    ? { text: "#d5dbe6", grid: "#384152", paper: "#171c25", line: onDark }
    : { text: "#39414f", grid: "#d9dee7", paper: "#ffffff", line: (colour) => colour };
}

/** Round numbers that span low..high. */
function ticks(low, high, wanted) {
  const raw = (high - low) / wanted || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((m) => m * power >= raw);
  const found = [];
  for (let value = Math.ceil(low / step - 1e-9) * step; value <= high + step * 1e-9; value += step) found.push(Number(value.toPrecision(12)));
  return found;
}

/** 1, 2 and 5 times powers of ten, or powers alone where there are many. */
function logTicks(low, high) {
  const decades = Math.log10(high / low);
  const found = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
    for (const m of decades > 3 ? [1] : [1, 2, 5]) found.push(Number((m * 10 ** power).toPrecision(12)));
  }
  const inside = found.filter((value) => value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9));
  return inside.length > 1 ? inside : ticks(low, high, 4);
}

/** From values low..high to places from..to, with the ticks of the axis. */
export function scale([low, high], [from, to], { log = false, wanted = 6 } = {}) {
  const bend = log ? Math.log10 : (value) => value;
  const [start, length] = [bend(low), bend(high) - bend(low)];
  const at = (value) => from + ((bend(value) - start) / length) * (to - from);
  const back = (place) => {
    const value = start + ((place - from) / (to - from)) * length;
    return log ? 10 ** value : value;
  };
  return Object.assign(at, { back, low, high, ticks: log ? logTicks(low, high) : ticks(low, high, wanted) });
}

/** A range that is never empty. */
export function range(values, { from, to, log = false } = {}) {
  const given = values.filter((value) => Number.isFinite(value) && (!log || value > 0));
  let [low, high] = [Math.min(...given, from ?? Infinity), Math.max(...given, to ?? -Infinity)];
  if (!Number.isFinite(low) || !Number.isFinite(high)) [low, high] = log ? [0.1, 1] : [0, 1];
  if (high - low < 1e-12 * Math.max(1, Math.abs(high))) [low, high] = log ? [low / 2, high * 2] : [low - Math.abs(low) * 0.05 - 1e-9, high + Math.abs(high) * 0.05 + 1e-9];
  return [low, high];
}

export const write = (colours, x, y, content, more = {}) => s("text", { x, y, fill: colours.text, "font-size": 12, ...more }, content);

/** An empty sheet. */
export function paper({ width, height }, about, colours) {
  return s(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": about, "font-family": "system-ui, sans-serif", class: "chart" },
    s("rect", { width, height, fill: colours.paper }),
  );
}

/** Grid, numbers and names of both axes. `box` has the places of the four sides, `whole` says that x counts something. */
export function drawAxes(svg, { x, y, box, xLabel, yLabel, whole, colours }) {
  for (const value of y.ticks) {
    svg.append(s("line", { x1: box.left, x2: box.right, y1: y(value), y2: y(value), stroke: colours.grid }));
    svg.append(write(colours, box.left - 6, y(value) + 4, figure(value), { "text-anchor": "end" }));
  }
  for (const value of x.ticks.filter((one) => !whole || Number.isInteger(one))) {
    svg.append(write(colours, x(value), box.bottom + 16, figure(value), { "text-anchor": "middle" }));
  }
  const middle = (box.top + box.bottom) / 2;
  svg.append(write(colours, (box.left + box.right) / 2, box.bottom + 31, xLabel, { "text-anchor": "middle" }));
  svg.append(write(colours, 13, middle, yLabel, { "text-anchor": "middle", transform: `rotate(-90 13 ${middle})` }));
}
