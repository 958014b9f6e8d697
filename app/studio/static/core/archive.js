// Read .npz: a zip of .npy arrays, stored or deflated. Nothing is ever unpickled.
import { InputError } from "./network.js";

const END = 0x06054b50;
const ENTRY = 0x02014b50;
const READERS = {
  f8: Float64Array,
  f4: Float32Array,
  i8: BigInt64Array,
  u8: BigUint64Array,
  i4: Int32Array,
  u4: Uint32Array,
  i2: Int16Array,
  u2: Uint16Array,
  i1: Int8Array,
  u1: Uint8Array,
  b1: Uint8Array,
};

/** All arrays of an archive by name: {shape, values}. */
export async function readArchive(buffer) {
  const view = new DataView(buffer);
  const arrays = {};
  for (const entry of entries(view)) {
    if (!entry.name.endsWith(".npy")) continue;
    arrays[entry.name.slice(0, -4)] = readArray(await inflated(view, entry), entry.name);
  }
  return arrays;
}

function* entries(view) {
  let end = view.byteLength - 22;
  while (end >= 0 && view.getUint32(end, true) !== END) end -= 1;
  if (end < 0) throw new InputError("", "is not an .npz archive");
  let at = view.getUint32(end + 16, true);
  for (let i = view.getUint16(end + 10, true); i > 0; i -= 1) {
    if (at + 46 > view.byteLength || view.getUint32(at, true) !== ENTRY) throw new InputError("", "is a broken archive");
    const [nameLength, extra, comment] = [28, 30, 32].map((offset) => view.getUint16(at + offset, true));
    const name = new TextDecoder().decode(new Uint8Array(view.buffer, at + 46, nameLength));
    yield { name, method: view.getUint16(at + 10, true), size: view.getUint32(at + 20, true), start: view.getUint32(at + 42, true) };
    at += 46 + nameLength + extra + comment;
  }
}

async function inflated(view, { name, method, size, start }) {
  const begin = start + 30 + view.getUint16(start + 26, true) + view.getUint16(start + 28, true);
  if (begin + size > view.byteLength) throw new InputError(name, "is cut short, or larger than 4 GB");
  const bytes = new Uint8Array(view.buffer, begin, size);
  if (method === 0) return bytes.slice().buffer;
  if (method !== 8) throw new InputError(name, "is compressed in an unknown way");
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).arrayBuffer();
}

function readArray(buffer, name) {
  const view = new DataView(buffer);
  if (view.byteLength < 12 || view.getUint32(0, false) !== 0x934e554d) throw new InputError(name, "is not an array");
  const wide = view.getUint8(6) > 1;
  const length = wide ? view.getUint32(8, true) : view.getUint16(8, true);
  const begin = (wide ? 12 : 10) + length;
  const header = new TextDecoder().decode(new Uint8Array(buffer, wide ? 12 : 10, length));
  const kind = /'descr':\s*'([<>|=])(\w+)'/.exec(header);
  const shape = /'shape':\s*\(([^)]*)\)/.exec(header)[1].split(",").filter((part) => part.trim()).map(Number);
  if (!kind || /'fortran_order':\s*True/.test(header)) throw new InputError(name, "is an array of an unknown kind");
  if (kind[2].startsWith("U")) return { shape, values: text(buffer.slice(begin)) };
  const Kind = READERS[kind[2]];
  if (!Kind || kind[1] === ">") throw new InputError(name, `holds ${kind[1]}${kind[2]}, which is not read here`);
  return { shape, values: new Kind(buffer.slice(begin)) };
}

const text = (buffer) => String.fromCodePoint(...new Uint32Array(buffer)).replaceAll("\0", "");
