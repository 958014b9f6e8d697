// Tables, for the page and for a spreadsheet.
import { figure } from "../core/format.js";
import { h } from "./dom.js";

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

/** Rows by the value of a column, those without one last whichever way they go. */
export function sorted(rows, value, down) {
  const order = (a, b) => (typeof a === "string" ? a.localeCompare(b) : a - b);
  const missing = (one) => one === null || one === undefined;
  return [...rows].sort((one, other) => {
    const [a, b] = [value(one), value(other)];
    if (missing(a) || missing(b)) return Number(missing(a)) - Number(missing(b));
    return down ? order(b, a) : order(a, b);
  });
}

/** A heading that sorts: `sort` is {by, down}, `onsort` takes the next. */
export function sortHead(name, key, sort, onsort) {
  const on = sort.by === key;
  return h(
    "th",
    { scope: "col", "aria-sort": on ? (sort.down ? "descending" : "ascending") : "none" },
    h("button", { type: "button", class: "link sort", "data-key": `sort-${key}`, onclick: () => onsort({ by: key, down: on ? !sort.down : false }) }, name, h("span", { "aria-hidden": "true" }, on ? (sort.down ? " ↓" : " ↑") : "")),
  );
}
