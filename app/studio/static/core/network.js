// A network in the page: typed columns. To and from what the API speaks.

export const DEVICE_COLUMNS = [
  "data",
  "processing_capacity",
  "processing_cost",
  "receive_capacity",
  "transmit_budget",
];
export const LINK_COLUMNS = ["source", "target", "similarity", "transmit_cost"];

/** What is wrong with something that was given, and where. */
export class InputError extends Error {
  constructor(pointer, detail) {
    super(pointer ? `${pointer}: ${detail}` : detail);
    this.pointer = pointer;
    this.detail = detail;
  }
}

function numbers(values, pointer, Kind, length) {
  if (!Array.isArray(values) && !ArrayBuffer.isView(values)) throw new InputError(pointer, "must be a list of numbers");
  const column = Kind.from(values, (value, i) => {
    const number = typeof value === "bigint" ? Number(value) : value;
    if (typeof number !== "number" || !Number.isFinite(number)) {
      throw new InputError(`${pointer}/${i}`, "must be a finite number");
    }
    return number;
  });
  if (length !== undefined && column.length !== length) {
    throw new InputError(pointer, `must have ${length} entries, has ${column.length}`);
  }
  return column;
}

function names(values, pointer, length) {
  if (!Array.isArray(values) || values.length !== length) throw new InputError(pointer, `must have ${length} entries`);
  return values.map(String);
}

/** Check the columns' shapes and where links lead; what the numbers may be is the service's to judge. */
export function makeNetwork(devices, links, pointer = "") {
  const n = numbers(devices.data, `${pointer}/devices/data`, Float64Array).length;
  if (n === 0) throw new InputError(`${pointer}/devices/data`, "must name at least one device");
  const made = { n, devices: {}, links: {} };
  for (const name of DEVICE_COLUMNS) {
    made.devices[name] = numbers(devices[name], `${pointer}/devices/${name}`, Float64Array, n);
  }
  if (devices.label_counts) {
    made.devices.label_counts = devices.label_counts.map((row, i) =>
      Array.from(numbers(row, `${pointer}/devices/label_counts/${i}`, Float64Array)),
    );
  }
  if (devices.label_noise) made.devices.label_noise = devices.label_noise;
  if (devices.id) made.ids = names(devices.id, `${pointer}/devices/id`, n);
  made.links = makeLinks(links, n, `${pointer}/topology`);
  return made;
}

/** A fleet's network, as a dry run translates it; label counts come from the fleet if every device has them. */
export function networkOfFleet(fleet, { network, device_ids: ids }) {
  const made = makeNetwork(network.devices, network.links, "/network");
  const classes = [...new Set(fleet.devices.flatMap(({ label_counts: counts }) => Object.keys(counts ?? {})))];
  if (classes.length && fleet.devices.every(({ label_counts: counts }) => counts)) {
    made.devices.label_counts = fleet.devices.map(({ label_counts: counts }) => classes.map((name) => counts[name] ?? 0));
    if (fleet.label_noise) made.devices.label_noise = fleet.label_noise;
  }
  const groups = fleet.devices.map(({ group }) => group ?? "");
  // Only the fleet itself tells joules.
  const energy = fleet.devices.some((one) => one.joules_per_sample) || (fleet.links ?? []).some((one) => one.joules_per_megabyte);
  return { ...made, ids, groups: groups.some(Boolean) ? groups : undefined, positions: positionsOf(fleet.devices), ...(energy ? { fleet } : {}) };
}

/** Where devices with coordinates are, north up, a degree as wide as it is at their latitude; undefined if one has none. */
function positionsOf(devices) {
  if (!devices.every(({ latitude, longitude }) => Number.isFinite(latitude) && Number.isFinite(longitude))) return undefined;
  const middle = devices.reduce((sum, { latitude }) => sum + latitude, 0) / devices.length;
  const width = Math.cos((middle * Math.PI) / 180);
  return {
    x: Float64Array.from(devices, ({ longitude }) => longitude * width),
    y: Float64Array.from(devices, ({ latitude }) => -latitude),
  };
}

/** Links from columns or from dense matrices. */
export function makeLinks(given, n, pointer) {
  const columns = given.kind === "matrix" ? fromMatrices(given, n, pointer) : given;
  const links = {};
  let length;
  for (const name of LINK_COLUMNS) {
    const Kind = name === "source" || name === "target" ? Int32Array : Float64Array;
    links[name] = numbers(columns[name], `${pointer}/${name}`, Kind, length);
    length = links[name].length;
  }
  for (const name of ["source", "target"]) {
    const bad = links[name].findIndex((device) => device < 0 || device >= n);
    if (bad >= 0) throw new InputError(`${pointer}/${name}/${bad}`, `must be at least 0 and below ${n}`);
  }
  return links;
}

function fromMatrices(given, n, pointer) {
  const columns = { source: [], target: [], similarity: [], transmit_cost: [] };
  for (const name of ["adjacency", "similarity", "transmit_cost"]) {
    if (!Array.isArray(given[name]) || given[name].length !== n) {
      throw new InputError(`${pointer}/${name}`, `must have ${n} rows`);
    }
  }
  given.adjacency.forEach((row, k) => {
    row.forEach((linked, i) => {
      if (!linked) return;
      columns.source.push(k);
      columns.target.push(i);
      columns.similarity.push(given.similarity[k]?.[i]);
      columns.transmit_cost.push(given.transmit_cost[k]?.[i]);
    });
  });
  return columns;
}

/** What a device is called: its owner's id, else its number. */
export const nameOf = (network, device) => network.ids?.[device] ?? String(device);

/** The device that a person names: by id, by number, or by the start or a part of an id; −1 if there is none. */
export function findDevice(network, text) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return -1;
  const ids = (network.ids ?? []).map((id) => id.toLowerCase());
  for (const fits of [(id) => id === wanted, (id) => id.startsWith(wanted), (id) => id.includes(wanted)]) {
    const found = ids.findIndex(fits);
    if (found >= 0) return found;
    if (/^\d+$/.test(wanted) && Number(wanted) < network.n) return Number(wanted);
  }
  return -1;
}

const wires = new WeakMap();

/** The network as the API takes it; made once for each. */
export function toWire(network) {
  if (!wires.has(network)) {
    const devices = Object.fromEntries(DEVICE_COLUMNS.map((name) => [name, Array.from(network.devices[name])]));
    if (network.devices.label_counts) devices.label_counts = network.devices.label_counts;
    if (network.devices.label_noise) devices.label_noise = network.devices.label_noise;
    if (network.ids) devices.id = network.ids;
    const columns = Object.fromEntries(LINK_COLUMNS.map((name) => [name, Array.from(network.links[name])]));
    wires.set(network, { devices, topology: { kind: "links", ...columns } });
  }
  return wires.get(network);
}

const indexes = new WeakMap();

/** For each device the numbers of its links in and out. */
export function linksOf(network) {
  if (!indexes.has(network)) {
    const into = Array.from({ length: network.n }, () => []);
    const out = Array.from({ length: network.n }, () => []);
    network.links.source.forEach((k, j) => {
      out[k].push(j);
      into[network.links.target[j]].push(j);
    });
    indexes.set(network, { into, out });
  }
  return indexes.get(network);
}
