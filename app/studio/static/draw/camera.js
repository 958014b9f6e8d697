// From places to pixels.

/** The camera that shows all places within the canvas. */
export function fit(places, width, height, margin = 34) {
  let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let i = 0; i < places.x.length; i += 1) {
    left = Math.min(left, places.x[i]);
    right = Math.max(right, places.x[i]);
    low = Math.min(low, places.y[i]);
    high = Math.max(high, places.y[i]);
  }
  const scale = Math.min(
    (width - 2 * margin) / Math.max(right - left, 1e-9),
    (height - 2 * margin) / Math.max(high - low, 1e-9),
    1e6,
  );
  // A single device, or all on one spot: any scale shows it, in the middle.
  const chosen = Number.isFinite(scale) && right > left ? scale : 1;
  return { scale: chosen, x: width / 2 - (chosen * (left + right)) / 2, y: height / 2 - (chosen * (low + high)) / 2 };
}

/** Zoom about a point of the canvas. */
export function zoomed(camera, factor, x, y) {
  return { scale: camera.scale * factor, x: x - (x - camera.x) * factor, y: y - (y - camera.y) * factor };
}

export const moved = (camera, dx, dy) => ({ ...camera, x: camera.x + dx, y: camera.y + dy });

export const project = (camera, places, i) => [
  camera.x + places.x[i] * camera.scale,
  camera.y + places.y[i] * camera.scale,
];
