// From a file or pasted text to a network and the settings that came with it.
import { readArchive } from "./archive.js";
import { DEVICE_COLUMNS, InputError, LINK_COLUMNS, makeNetwork } from "./network.js";

/** A dropped or chosen file: a request, a network or an .npz archive; null if it is something else, which the service reads. */
export async function readFile(file) {
  const buffer = await file.arrayBuffer();
  const start = new Uint8Array(buffer, 0, Math.min(2, buffer.byteLength));
  if (start[0] === 0x50 && start[1] === 0x4b) return fromArchive(await readArchive(buffer));
  const text = new TextDecoder().decode(buffer);
  return isRequest(text) ? readText(text) : null;
}

/** Whether the text is JSON of a request with its network, or of a network alone. */
function isRequest(text) {
  try {
    const { network, devices, topology } = JSON.parse(text);
    return network !== undefined || (devices !== undefined && !Array.isArray(devices)) || topology?.kind !== undefined;
  } catch {
    return false;
  }
}

/** Text: a request's JSON, or that of its network alone. */
export function readText(text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new InputError("", `This is not JSON: ${error.message}`);
  }
  return fromRequest(value);
}

/** {network, parameters} of a request or of a bare network. */
export function fromRequest(value) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new InputError("", "must be an object: a request, or its network");
  }
  const { network, ...parameters } = "network" in value ? value : { network: value };
  const pointer = "network" in value ? "/network" : "";
  if (!network?.devices) throw new InputError(`${pointer}/devices`, "is missing");
  if (!network.topology) throw new InputError(`${pointer}/topology`, "is missing");
  return { network: makeNetwork(network.devices, network.topology, pointer), parameters };
}

function fromArchive(arrays) {
  for (const name of [...DEVICE_COLUMNS, ...LINK_COLUMNS]) {
    if (!(name in arrays)) throw new InputError("", `The archive lacks the array “${name}”`);
  }
  const pick = (names) => Object.fromEntries(names.map((name) => [name, arrays[name].values]));
  const devices = pick(DEVICE_COLUMNS);
  if (arrays.label_counts) {
    const { shape, values } = arrays.label_counts;
    devices.label_counts = Array.from({ length: shape[0] }, (_, i) =>
      Array.from(values.subarray(i * shape[1], (i + 1) * shape[1]), Number),
    );
  }
  if (arrays.label_epsilon) devices.label_noise = { epsilon: Number(arrays.label_epsilon.values[0]) };
  const text = arrays.parameters ? new TextDecoder().decode(arrays.parameters.values) : "{}";
  return { network: makeNetwork(devices, pick(LINK_COLUMNS)), parameters: JSON.parse(text) };
}
