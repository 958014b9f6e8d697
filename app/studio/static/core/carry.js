// A small loaded network inside the link itself: deflated, as base64url.
import { toWire } from "./network.js";
import { fromRequest } from "./loading.js";

// Browsers and chat programs cut longer addresses.
const LIMIT = 30_000;

/** The network as text for a link, or null when it would be too long. */
export async function pack(network, schedule) {
  const places = network.positions && { x: Array.from(network.positions.x), y: Array.from(network.positions.y) };
  const body = JSON.stringify({ network: toWire(network), ...(schedule.length ? { schedule } : {}), ...(places ? { places } : {}) });
  const stream = new Blob([body]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  if (bytes.length * 1.34 > LIMIT) return null;
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** The network and schedule that a link carries. */
export async function unpack(text) {
  const letters = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const { places, ...request } = JSON.parse(await new Response(stream).text());
  const made = fromRequest(request);
  return places ? { ...made, network: { ...made.network, positions: places } } : made;
}
