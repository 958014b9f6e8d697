// A list of things that a person owns: open one, lay its curves over, rename it, delete it.
import { listShelf, shelve } from "../core/keeping.js";
import { button, h } from "./dom.js";
import { announce } from "./notices.js";
import { set, state, update } from "./store.js";

/** Read the shelf anew, and tell who shows it. */
export async function loadShelf() {
  update({ shelf: await listShelf() });
}

/** The ids that are laid over now. */
export const laidOver = () => state.settings.over.split(",").filter(Boolean);

/** Lay something over, or take it away; Back undoes it. */
export function toggleOver(id) {
  const now = laidOver();
  set({ over: (now.includes(id) ? now.filter((one) => one !== id) : [...now, id]).join(",") });
}

/** The name that was given to something here, if one was. */
export const givenName = (id) => (state.shelf ?? []).find((row) => row.id === id)?.name;

/** Give something another name; what a plan brought along stays. */
export async function rename(id, kind, name) {
  const row = (state.shelf ?? []).find((one) => one.id === id) ?? { id, kind };
  await shelve({ ...row, name });
  await loadShelf();
  announce(`Renamed to ${name}`);
}

/** The name, in a box to change it; Escape leaves it as it was. */
function nameBox({ id, name, kind }, done) {
  const box = h("input", { type: "text", value: name, maxlength: 80, "aria-label": `New name for ${name}` });
  const leave = async (take) => {
    const text = box.value.trim();
    done();
    if (take && text && text !== name) await rename(id, kind, text);
  };
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter") leave(true);
    if (event.key === "Escape") leave(false);
  });
  return h("span", { class: "renaming" }, box, button("Save", () => leave(true)));
}

/**
 * `rows` are {id, kind, name, about?, current?, busy?}; `remove` deletes one, and may return what brings it back.
 * A row is deleted at the second press, since the first asks; one that is busy cannot be.
 */
export function shelfList(rows, { open, over = true, remove }) {
  const line = (row) => {
    const { id, name, about, current } = row;
    const made = h("li", {});
    const [laid, key] = [laidOver().includes(id), (what) => ({ "data-key": `${what}-${id}` })];
    const erase = button("delete", async () => {
      if (erase.textContent === "delete") {
        erase.textContent = "really delete?";
        return;
      }
      const back = await remove(row);
      if (laidOver().includes(id)) toggleOver(id);
      if (back) update({ deleted: { name, kind: row.kind, back } });
      announce(`${name} deleted`);
    }, { class: "link", "aria-label": `Delete ${name}`, ...key("delete") });
    erase.addEventListener("blur", () => (erase.textContent = "delete"));
    const parts = () => [
      button(name, () => open(row), { class: "link name", "aria-current": current ? "true" : null, ...key("open") }),
      about ? h("small", {}, about) : null,
      h("span", { class: "deeds" },
        over && !current ? button(laid ? "take away" : "overlay", () => toggleOver(id), { class: "link", "aria-pressed": String(laid), "aria-label": `Overlay ${name}`, ...key("over") }) : null,
        button("rename", () => {
          made.replaceChildren(nameBox(row, () => made.replaceChildren(...parts())));
          made.querySelector("input").select();
        }, { class: "link", "aria-label": `Rename ${name}`, ...key("rename") }),
        row.busy ? null : erase,
      ),
    ].filter(Boolean);
    made.append(...parts());
    return made;
  };
  return h("ul", { class: "past" }, rows.map(line));
}

/** "Deleted …, Undo", while it can be undone. */
export function undoLine(kind) {
  const { deleted } = state;
  if (deleted?.kind !== kind) return null;
  const undo = async () => {
    update({ deleted: null });
    await deleted.back();
    announce(`${deleted.name} is back`);
  };
  return h("p", { class: "notice" }, `${deleted.name} is deleted. `, button("Undo", undo, { class: "link", "data-key": "undo" }));
}
