// Random graphs of about a given mean degree, as lists of unordered pairs; geometric ones come with positions.

/** Every pair with the same probability, in O(pairs kept): jump from one kept pair to the next. */
function erdosRenyi(n, degree, random) {
  const pairs = [];
  const p = Math.min(1, degree / Math.max(1, n - 1));
  if (p <= 0 || n < 2) return { pairs };
  const jump = p < 1 ? () => 1 + Math.floor(Math.log(1 - random.uniform()) / Math.log(1 - p)) : () => 1;
  let [low, high] = [-1, 1];
  for (;;) {
    low += jump();
    while (low >= high && high < n) {
      low -= high;
      high += 1;
    }
    if (high >= n) return { pairs };
    pairs.push([low, high]);
  }
}

/** Devices in a unit square, linked when nearer than the radius that gives the mean degree. */
function geometric(n, degree, random) {
  const x = Float64Array.from({ length: n }, () => random.uniform());
  const y = Float64Array.from({ length: n }, () => random.uniform());
  const radius = Math.sqrt(degree / (Math.PI * Math.max(1, n - 1)));
  const cells = Math.max(1, Math.min(64, Math.floor(1 / radius)));
  const cell = (value) => Math.min(cells - 1, Math.floor(value * cells));
  const grid = Array.from({ length: cells * cells }, () => []);
  const pairs = [];
  for (let i = 0; i < n; i += 1) {
    const [cx, cy] = [cell(x[i]), cell(y[i])];
    for (let gx = Math.max(0, cx - 1); gx <= Math.min(cells - 1, cx + 1); gx += 1) {
      for (let gy = Math.max(0, cy - 1); gy <= Math.min(cells - 1, cy + 1); gy += 1) {
        for (const j of grid[gx * cells + gy]) {
          if (Math.hypot(x[i] - x[j], y[i] - y[j]) <= radius) pairs.push([j, i]);
        }
      }
    }
    grid[cx * cells + cy].push(i);
  }
  return { pairs, positions: { x, y } };
}

/** Watts and Strogatz: a ring of near neighbours, one link in ten led elsewhere. */
function smallWorld(n, degree, random) {
  const reach = Math.min(Math.max(1, Math.round(degree / 2)), Math.floor((n - 1) / 2));
  const seen = new Set();
  const key = (a, b) => (a < b ? a * n + b : b * n + a);
  for (let i = 0; i < n; i += 1) {
    for (let hop = 1; hop <= reach; hop += 1) {
      let other = (i + hop) % n;
      if (random.uniform() < 0.1) {
        const elsewhere = random.below(n);
        if (elsewhere !== i && !seen.has(key(i, elsewhere))) other = elsewhere;
      }
      seen.add(key(i, other));
    }
  }
  return { pairs: [...seen].map((k) => [Math.floor(k / n), k % n]) };
}

/** Barabási and Albert: each newcomer links to those that have many links already. */
function scaleFree(n, degree, random) {
  const each = Math.max(1, Math.min(Math.round(degree / 2), n - 1));
  const ends = [];
  const pairs = [];
  for (let i = 1; i < n; i += 1) {
    const chosen = new Set();
    const wanted = Math.min(each, i);
    while (chosen.size < wanted) {
      chosen.add(ends.length && random.uniform() < 0.95 ? ends[random.below(ends.length)] : random.below(i));
    }
    for (const other of chosen) {
      pairs.push([other, i]);
      ends.push(other, i);
    }
  }
  return { pairs };
}

export const TOPOLOGIES = {
  "erdos-renyi": erdosRenyi,
  geometric,
  "small-world": smallWorld,
  "scale-free": scaleFree,
};
