// What this browser keeps: loaded networks, plans with their names, and names for runs and validations.

const [BASE, VERSION, MOST] = ["fedsift", 2, 20];
const TABLES = ["networks", "shelf"];
// What a browser without storage keeps, as long as the page is open.
const here = Object.fromEntries(TABLES.map((name) => [name, new Map()]));

const asPromise = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

let opened;

function base() {
  opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open(BASE, VERSION);
    request.onupgradeneeded = () => {
      for (const name of TABLES) if (!request.result.objectStoreNames.contains(name)) request.result.createObjectStore(name, { keyPath: "id" });
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  return opened;
}

const table = async (name, mode) => (await base()).transaction(name, mode).objectStore(name);

/** Do this with the browser's storage; null where it has none, then the page's own memory is all there is. */
async function stored(name, mode, act) {
  try {
    return await asPromise(act(await table(name, mode)));
  } catch {
    return null;
  }
}

async function put(name, row) {
  here[name].set(row.id, row);
  await stored(name, "readwrite", (rows) => rows.put(row));
}

async function drop(name, id) {
  here[name].delete(id);
  await stored(name, "readwrite", (rows) => rows.delete(id));
}

async function all(name) {
  const rows = new Map(here[name]);
  for (const row of (await stored(name, "readonly", (kept) => kept.getAll())) ?? []) rows.set(row.id, row);
  return [...rows.values()].sort((a, b) => b.time - a.time);
}

/** A short name for a text, the same for the same text: two rounds of FNV-1a with different starts. */
function nameOf(text) {
  const round = (start) => {
    let h = start;
    for (let i = 0; i < text.length; i += 1) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
    return (h >>> 0).toString(16).padStart(8, "0");
  };
  return round(2166136261) + round(40389);
}

/** Keep a network with what came along; its name. The oldest goes when there are too many, if no plan needs it. */
export async function keep(text, content) {
  const id = nameOf(text);
  await put("networks", { ...content, id, time: Date.now() });
  const needed = new Set((await all("shelf")).map(({ network }) => network));
  for (const row of (await all("networks")).slice(MOST)) if (!needed.has(row.id)) await drop("networks", row.id);
  return id;
}

/** What was kept under a name, or null. */
export const kept = async (id) => here.networks.get(id) ?? (await stored("networks", "readonly", (rows) => rows.get(id))) ?? null;

/** All networks that are kept, the newest first: [{id, origin, n}]. */
export const listKept = async () => (await all("networks")).map(({ id, origin, network }) => ({ id, origin, n: network.n }));

/** Forget a network. */
export const dropNetwork = (id) => drop("networks", id);

/** Keep something with a name on the shelf: {id, kind: "plan" | "run" | "validation", name, …}. */
export const shelve = (row) => put("shelf", { time: Date.now(), ...row });

/** What is on the shelf, the newest first. */
export const listShelf = () => all("shelf");

export const takeOff = (id) => drop("shelf", id);
