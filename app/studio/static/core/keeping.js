// Networks that were loaded, kept by this browser: a link and the way back find them again.

const [BASE, TABLE, MOST] = ["fedsift", "networks", 20];
// What a browser without storage keeps, as long as the page is open.
const here = new Map();

const asPromise = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

let opened;

function base() {
  opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open(BASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(TABLE, { keyPath: "id" });
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  return opened;
}

const table = async (mode) => (await base()).transaction(TABLE, mode).objectStore(TABLE);

/** A short name for a text, the same for the same text: two rounds of FNV-1a with different starts. */
function nameOf(text) {
  const round = (start) => {
    let h = start;
    for (let i = 0; i < text.length; i += 1) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
    return (h >>> 0).toString(16).padStart(8, "0");
  };
  return round(2166136261) + round(40389);
}

/** Keep a network with what came along; its name. The oldest goes when there are too many. */
export async function keep(text, content) {
  const id = nameOf(text);
  const row = { ...content, id, time: Date.now() };
  here.set(id, row);
  try {
    await asPromise((await table("readwrite")).put(row));
    const rows = await asPromise((await table("readonly")).getAll());
    const old = rows.sort((a, b) => b.time - a.time).slice(MOST);
    for (const { id: name } of old) await asPromise((await table("readwrite")).delete(name));
  } catch {
    // Without storage it is kept until the page is closed.
  }
  return id;
}

/** What was kept under a name, or null. */
export async function kept(id) {
  if (here.has(id)) return here.get(id);
  try {
    return (await asPromise((await table("readonly")).get(id))) ?? null;
  } catch {
    return null;
  }
}

/** All that is kept, the newest first: [{id, origin, n}]. */
export async function listKept() {
  const rows = new Map(here);
  try {
    for (const row of await asPromise((await table("readonly")).getAll())) rows.set(row.id, row);
  } catch {
    // The page's own are all there are.
  }
  return [...rows.values()].sort((a, b) => b.time - a.time).map(({ id, origin, network }) => ({ id, origin, n: network.n }));
}
