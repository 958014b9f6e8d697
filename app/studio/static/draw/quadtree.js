// Barnes and Hut's tree: the push of many far devices is reckoned as that of one, at their centre.

const THETA = 0.81; // squared: how far is far
const DEEPEST = 24;

/** Add to vx, vy the push of every device on every other: strength / distance², along the line between them. */
export function repel(x, y, vx, vy, strength) {
  const n = x.length;
  const tree = build(x, y);
  const { child, mass, cx, cy, size } = tree;
  const stack = new Int32Array(4 * DEEPEST + 8);
  for (let i = 0; i < n; i += 1) {
    let top = 0;
    stack[top++] = 0;
    while (top > 0) {
      const cell = stack[--top];
      let dx = cx[cell] - x[i];
      let dy = cy[cell] - y[i];
      let distance = dx * dx + dy * dy;
      const leaf = child[4 * cell] < 0 && child[4 * cell + 1] < 0 && child[4 * cell + 2] < 0 && child[4 * cell + 3] < 0;
      if (leaf || size[cell] * size[cell] < THETA * distance) {
        if (leaf && tree.owner[cell] === i && mass[cell] === 1) continue;
        if (distance < 1e-9) {
          // Two on one spot: part them, each its own way, always the same.
          dx = 1e-3 * (((i * 7919) % 13) - 6.5);
          dy = 1e-3 * (((i * 104729) % 11) - 5.5);
          distance = dx * dx + dy * dy;
        }
        const push = (strength * mass[cell]) / Math.max(distance, 0.25);
        vx[i] -= dx * push;
        vy[i] -= dy * push;
        continue;
      }
      for (let q = 0; q < 4; q += 1) if (child[4 * cell + q] >= 0) stack[top++] = child[4 * cell + q];
    }
  }
}

function build(x, y) {
  const n = x.length;
  let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let i = 0; i < n; i += 1) {
    left = Math.min(left, x[i]);
    right = Math.max(right, x[i]);
    low = Math.min(low, y[i]);
    high = Math.max(high, y[i]);
  }
  const room = 4 * n + 64 + n * 4;
  const tree = {
    child: new Int32Array(4 * room).fill(-1),
    mass: new Float64Array(room),
    cx: new Float64Array(room),
    cy: new Float64Array(room),
    size: new Float64Array(room),
    owner: new Int32Array(room).fill(-1),
    left,
    low,
    used: 1,
  };
  tree.size[0] = Math.max(right - left, high - low, 1e-6);
  for (let i = 0; i < n; i += 1) insert(tree, x, y, i);
  for (let cell = 0; cell < tree.used; cell += 1) {
    tree.cx[cell] /= tree.mass[cell];
    tree.cy[cell] /= tree.mass[cell];
  }
  return tree;
}

function insert(tree, x, y, i) {
  let [cell, left, low, side] = [0, tree.left, tree.low, tree.size[0]];
  for (let depth = 0; ; depth += 1) {
    const resident = tree.owner[cell];
    const empty = tree.mass[cell] === 0;
    tree.mass[cell] += 1;
    tree.cx[cell] += x[i];
    tree.cy[cell] += y[i];
    if (empty) {
      tree.owner[cell] = i;
      return;
    }
    if (depth >= DEEPEST || tree.used + 2 >= tree.mass.length) return;
    if (resident >= 0) {
      // A leaf becomes a branch: its resident moves one floor down.
      tree.owner[cell] = -1;
      const down = step(tree, cell, x[resident], y[resident], left, low, side);
      tree.owner[down.cell] = resident;
      tree.mass[down.cell] = 1;
      tree.cx[down.cell] = x[resident];
      tree.cy[down.cell] = y[resident];
    }
    ({ cell, left, low, side } = step(tree, cell, x[i], y[i], left, low, side));
  }
}

function step(tree, cell, px, py, left, low, side) {
  const half = side / 2;
  const east = px >= left + half ? 1 : 0;
  const north = py >= low + half ? 1 : 0;
  const slot = 4 * cell + 2 * north + east;
  if (tree.child[slot] < 0) {
    tree.child[slot] = tree.used;
    tree.size[tree.used] = half;
    tree.used += 1;
  }
  return { cell: tree.child[slot], left: left + east * half, low: low + north * half, side: half };
}
