// The one chart of the page: series that can be switched off, a crosshair, a log axis, its numbers, ways to take it along.
import { nthLook } from "../core/looks.js";
import { drawAxes, inks, paper, range, scale, write } from "./axes.js";
import { addCrosshair } from "./crosshair.js";
import { button, h, s, save } from "./dom.js";
import { drawBars, drawLine, drawPoints } from "./marks.js";
import { csv, tableOf } from "./table.js";

const SIZE = { width: 520, height: 230, left: 62, right: 14, top: 14, bottom: 38 };
const NARROW = 340; // in a side panel, and on a phone
const PHONE = 500;

// What a person chose for a chart of this name: live updates must not take it back.
const choices = new Map();

function choiceOf({ name, log }) {
  if (!choices.has(name)) choices.set(name, { hidden: new Set(), log: Boolean(log?.on) });
  return choices.get(name);
}

/** A series as the axis shows it: `log.value` may turn it over, as accuracy into 1 − accuracy. */
function bent(one, log) {
  const turn = log.value ?? ((value) => value);
  const positive = (value) => (turn(value) > 0 ? turn(value) : null);
  const [low, high] = [one.low?.map(turn), one.high?.map(turn)];
  const swapped = log.value ? { low: high, high: low } : { low, high };
  return { ...one, y: Array.from(one.y, positive), ...(one.low ? swapped : {}) };
}

function draw(options, series, choice) {
  const { about, xLabel, yLabel, target, mark, from, to, x: span = {}, narrow = false, log } = options;
  const logged = choice.log && log;
  const colours = inks();
  const slim = narrow || innerWidth < PHONE;
  const size = { ...SIZE, width: slim ? NARROW : SIZE.width };
  const box = { left: size.left, right: size.width - size.right, top: size.top, bottom: size.height - size.bottom };
  const shown = series.filter(({ name, y }) => y.length && !choice.hidden.has(name)).map((one) => (logged ? bent(one, log) : one));
  const all = (name) => shown.flatMap((one) => Array.from(one[name] ?? []));
  const aim = target === undefined ? [] : [logged && log.value ? log.value(target) : target];
  const points = shown.some((one) => one.points);
  const ends = logged ? { log: true } : { from, to };
  const room = points ? 10 : 0; // so that no point lies on an axis
  const x = scale(range(all("x"), points ? {} : span), [box.left + room, box.right - room], { wanted: slim ? 5 : 8 });
  const y = scale(range([...all("y"), ...(logged ? [] : [...all("low"), ...all("high")]), ...aim], ends), [box.bottom - room, box.top + room], { log: Boolean(logged) });
  const svg = paper(size, about, colours);
  svg.setAttribute("tabindex", "0");
  drawAxes(svg, { x, y, box, xLabel, yLabel: logged ? log.label : yLabel, whole: !points, colours });
  for (const value of aim) svg.append(s("line", { x1: box.left, x2: box.right, y1: y(value), y2: y(value), stroke: colours.text, "stroke-dasharray": "3 4" }), write(colours, box.right, y(value) - 4, "target", { "text-anchor": "end" }));
  for (const one of shown) (one.points ? drawPoints : drawLine)(svg, one, { x, y, colours });
  if (mark !== undefined) svg.append(s("line", { class: "mark", x1: x(mark), x2: x(mark), y1: box.top, y2: box.bottom, stroke: colours.text, "stroke-width": 1.5, "stroke-dasharray": "2 3" }));
  addCrosshair(svg, shown, { x, box, colours, width: size.width, xLabel });
  svg.place = (step) => ["x1", "x2"].forEach((end) => svg.querySelector(".mark")?.setAttribute(end, x(step)));
  return svg;
}

/** A short piece of a series' line or its dot. */
function sample({ look, points }) {
  const colour = inks().line(look.colour);
  const shape = points ? s("circle", { cx: 13, cy: 6, r: 4.5, fill: colour }) : s("line", { x1: 0, x2: 26, y1: 6, y2: 6, stroke: colour, "stroke-width": 2.6, "stroke-dasharray": look.dash });
  return s("svg", { width: 26, height: 12, "aria-hidden": "true" }, shape);
}

/** The names of the series; each is a switch where there are several. */
function keysOf(chart, series, choice, redraw) {
  const contents = (one) => [sample(one), ` ${one.name}`, one.note ? h("small", {}, ` ${one.note}`) : null];
  const key = (one) => {
    if (series.length < 2 || !one.y.length) return h("span", { class: "key" }, contents(one));
    const toggle = () => {
      if (!choice.hidden.delete(one.name)) choice.hidden.add(one.name);
      made.setAttribute("aria-pressed", String(!choice.hidden.has(one.name)));
      redraw();
    };
    const made = h("button", { type: "button", class: "key", title: "Show or hide", "aria-pressed": String(!choice.hidden.has(one.name)), "data-key": `${chart}/${one.name}`, onclick: toggle }, contents(one));
    return made;
  };
  return h("div", { class: "keys", role: "group", "aria-label": "Series" }, series.map(key));
}

/**
 * Lines or points. `series` are {name, x, y, low?, high?, look?, note?, growing?, points?}; `x` {from, to} fixes the axis,
 * `target` is a y to reach, `mark` an x to point out, `log` {label, value?} offers a logarithmic axis.
 */
export function chart(options) {
  const series = options.series.map((one, i) => ({ ...one, look: one.look ?? nthLook(i) }));
  const choice = choiceOf(options);
  let svg = draw(options, series, choice);
  const redraw = () => {
    const next = draw(options, series, choice);
    svg.replaceWith(next);
    svg = next;
  };
  const bend = options.log && button("Log scale", () => ((choice.log = !choice.log), bend.setAttribute("aria-pressed", String(choice.log)), redraw()), { class: "quiet", "aria-pressed": String(choice.log), "data-key": `${options.name}/log`, title: options.log.label });
  const made = framed(options, () => svg, [keysOf(options.name, series, choice, redraw)], bend, () => series.filter(({ name, y }) => y.length && !choice.hidden.has(name)));
  made.place = (step) => ((options.mark = step), svg.place(step));
  return made;
}

/** Bars, in the same frame. */
export const bars = (options) => {
  const svg = drawBars(options.rows, { ...options, colours: inks(), width: innerWidth < PHONE ? NARROW : SIZE.width });
  return framed(options, () => svg, [], null, () => []);
};

function framed({ caption, note, table, name }, svg, keys, extra, shown) {
  return h(
    "figure",
    {},
    h("figcaption", {}, caption),
    svg(),
    keys,
    note && h("small", { class: "note" }, note),
    h(
      "div",
      { class: "foot" },
      h("details", {}, h("summary", {}, "Numbers"), h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `${caption}: numbers` }, tableOf(table))),
      extra,
      button("PNG", () => savePng(svg(), shown(), note, `${name}.png`), { class: "quiet" }),
      button("CSV", () => save(`${name}.csv`, csv(table), "text/csv"), { class: "quiet" }),
    ),
  );
}

const LETTERS = 84; // in a line of the note

/** The drawing with the names of its series and what explains it, as a picture twice as large. */
async function savePng(svg, series, note, name) {
  const colours = inks();
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  const copy = svg.cloneNode(true);
  copy.querySelector(".hair")?.remove();
  const columns = width > NARROW ? 3 : 2;
  series.forEach((one, i) => {
    const [x, y] = [14 + (i % columns) * ((width - 20) / columns), height + 8 + 18 * Math.floor(i / columns)];
    const key = sample(one);
    [["x", x], ["y", y]].forEach(([place, value]) => key.setAttribute(place, value));
    copy.append(key, write(colours, x + 32, y + 10, one.name));
  });
  const lines = (note ?? "").match(new RegExp(`.{1,${Math.round((LETTERS * width) / SIZE.width)}}(\\s|$)`, "g")) ?? [];
  const start = height + 18 * Math.ceil(series.length / columns) + 16;
  lines.forEach((line, i) => copy.append(write(colours, 14, start + 14 * i, line, { "font-size": 11 })));
  const full = start + 14 * lines.length;
  for (const [key, value] of Object.entries({ width, height: full, viewBox: `0 0 ${width} ${full}` })) copy.setAttribute(key, value);
  copy.querySelector("rect").setAttribute("height", full);
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }));
  await image.decode();
  const canvas = h("canvas", { width: 2 * width, height: 2 * full });
  canvas.getContext("2d").drawImage(image, 0, 0, 2 * width, 2 * full);
  URL.revokeObjectURL(image.src);
  save(name, await new Promise((done) => canvas.toBlob(done, "image/png")), "image/png");
}
