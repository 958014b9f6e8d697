// What is laid over the open plan, run or validation: fetched once, and shown as long as the address names it.
import { call } from "./api.js";
import { givenName, laidOver, loadShelf } from "./shelf.js";
import { listen, state, update } from "./store.js";

const when = (text) => new Date(text).toLocaleString([], { dateStyle: "short", timeStyle: "short" });

/** What a run or validation is called: by the name given here, the one it was started with, or its time. */
export const labelOf = ({ id, name, created_at: time }) => givenName(id) ?? name ?? (time ? when(time) : id.slice(0, 12));

/** What is laid over and of this kind, known by how its id begins. */
export const overlaid = (start) => laidOver().filter((id) => id.startsWith(start)).map((id) => state.overlaid?.[id]).filter(Boolean);

async function fetched(id) {
  if (id.startsWith("val_")) return call("GET", `/v1/validations/${id}`);
  if (id.startsWith("run_")) {
    const run = await call("GET", `/v1/runs/${id}`);
    const periods = [];
    for (let k = 0; k <= run.aggregation; k += 1) periods.push(await call("GET", `/v1/runs/${id}/aggregations/${k}`));
    return { ...run, periods };
  }
  if (!state.shelf) await loadShelf();
  return state.shelf.find((row) => row.id === id);
}

/** Fetch what the address names and the page has not. */
export function setUpOverlays() {
  const load = async () => {
    const missing = laidOver().filter((id) => !(id in (state.overlaid ?? {})));
    // Named at once, so that no other event fetches it again.
    if (!missing.length) return;
    update({ overlaid: { ...state.overlaid, ...Object.fromEntries(missing.map((id) => [id, null])) } });
    for (const id of missing) {
      const found = await fetched(id).catch(() => null);
      update({ overlaid: { ...state.overlaid, [id]: found } });
    }
  };
  listen(["settings"], load);
  load();
}
