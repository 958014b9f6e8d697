// Values under the pointer in a chart of lines.
import { figure } from "../core/format.js";
import { s } from "./dom.js";

/** Show a line at the nearest x, and each series' value there; gone when the pointer leaves. */
export function addCrosshair(svg, series, { px, x0, x1, top, bottom, width, colours }) {
  const hair = s("g", { class: "hair", "pointer-events": "none" });
  svg.append(hair);
  svg.addEventListener("pointerleave", () => hair.replaceChildren());
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * width;
    const x = Math.round(x0 + ((at - px(x0)) / (px(x1) - px(x0))) * (x1 - x0));
    const told = series.flatMap(({ name, x: xs, y }) => {
      const place = Array.from(xs).indexOf(x);
      return place < 0 ? [] : [`${name}: ${figure(y[place])}`];
    });
    if (!told.length) return hair.replaceChildren();
    const size = 7 * Math.max(...told.map((line) => line.length), 4) + 12;
    const left = px(x) + 8 + size > width ? px(x) - 8 - size : px(x) + 8;
    const text = (line, i) => s("text", { x: left + 6, y: top + 15 + 15 * i, fill: colours.text, "font-size": 12 }, line);
    return hair.replaceChildren(
      s("line", { x1: px(x), x2: px(x), y1: top, y2: bottom, stroke: colours.text }),
      s("rect", { x: left, y: top, width: size, height: 15 * (told.length + 1) + 6, rx: 4, fill: colours.paper, stroke: colours.grid, "fill-opacity": 0.95 }),
      ...[`at ${x}`, ...told].map(text),
    );
  });
}
