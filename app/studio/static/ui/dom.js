// Elements without a framework.

const SVG = "http://www.w3.org/2000/svg";

function filled(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "disabled" || name === "hidden") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** An element: h("p", {class: "x", onclick: f}, "text", other, …). Text is never read as markup. */
export const h = (tag, properties, ...children) => filled(document.createElement(tag), properties, children);

/** The same for SVG. */
export const s = (tag, properties, ...children) => filled(document.createElementNS(SVG, tag), properties, children);

export const find = (selector) => document.querySelector(selector);

let serial = 0;

/** A labelled control. */
export function field(label, control, hint) {
  serial += 1;
  control.id = control.id || `field-${serial}`;
  const note = hint && h("small", { id: `${control.id}-hint` }, hint);
  if (note) control.setAttribute("aria-describedby", note.id);
  return h("div", { class: "field" }, h("label", { for: control.id }, label), control, note);
}

/** A number from a person; what is not one within bounds is marked and not taken. */
export function numberBox({ name, value, min, max, step = 1, onset }) {
  const box = h("input", { type: "number", name, value, min, max, step, required: true, inputmode: "decimal" });
  box.addEventListener("change", () => {
    if (box.reportValidity()) onset(Number(box.value));
  });
  return box;
}

export function choiceBox({ name, value, options, onset }) {
  const box = h(
    "select",
    { name },
    options.map(([key, text]) => h("option", { value: key }, text)),
  );
  box.value = value;
  box.addEventListener("change", () => onset(box.value));
  return box;
}

export const button = (text, onclick, properties = {}) => h("button", { type: "button", onclick, ...properties }, text);

/** Rows of names and values. */
export const facts = (rows) =>
  h(
    "dl",
    { class: "facts" },
    rows.filter(Boolean).map(([name, value, title]) => h("div", { title }, h("dt", {}, name), h("dd", {}, value))),
  );

const told = (box) => box.closest("figure")?.querySelector("figcaption")?.textContent + box.querySelector("summary")?.textContent;

/** New contents; what was opened stays open, what was scrolled stays where it was, and `data-key` tells what had the focus. */
export function renew(panel, children) {
  const boxes = () => [...panel.querySelectorAll("details")].map((box) => [told(box), box]);
  const before = new Map(boxes().map(([name, box]) => [name, { open: box.open, top: box.querySelector(".scroll")?.scrollTop ?? 0 }]));
  const aside = [...panel.querySelectorAll(".wide-table")].map(({ scrollLeft }) => scrollLeft);
  const { scrollTop } = panel;
  const focused = panel.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  panel.replaceChildren(...children);
  if (focused) panel.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  for (const [name, box] of boxes()) {
    if (!before.has(name)) continue;
    box.open = before.get(name).open;
    const scroll = box.querySelector(".scroll");
    if (scroll) scroll.scrollTop = before.get(name).top;
  }
  panel.querySelectorAll(".wide-table").forEach((table, i) => (table.scrollLeft = aside[i] ?? 0));
  panel.scrollTop = scrollTop;
}

/** Give a file to the person. */
export function save(name, content, type = "application/json") {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
