// Places by group: each group a round cluster, the clusters in rows; a group that is far larger stands beside them.

const TURN = Math.PI * (3 - Math.sqrt(5)); // sunflower: equal areas, no rows
const SPREAD = 1.8; // of small clusters against a far larger one

/** Places for groups[i], device by device; `first` devices stand in the middle of their group. */
export function groupedPlaces(groups, first = new Set()) {
  const members = new Map();
  groups.forEach((group, i) => {
    if (!members.has(group)) members.set(group, []);
    members.get(group).push(i);
  });
  const clusters = [...members.values()].sort((a, b) => b.length - a.length);
  const places = { x: new Float64Array(groups.length), y: new Float64Array(groups.length) };
  const beside = clusters.length > 1 && clusters[0].length > 3 * clusters[1].length;
  const rows = beside ? clusters.slice(1) : clusters;
  const spread = beside ? SPREAD : 1;
  const size = spread * 2.2 * Math.sqrt(rows[0].length) + 2.5;
  const columns = Math.ceil(Math.sqrt(rows.length));
  const height = (Math.ceil(rows.length / columns) - 1) * size;
  const left = beside ? Math.sqrt(clusters[0].length) + size * 0.8 : 0;
  if (beside) placeCluster(places, clusters[0], 0, height / 2, 1, first);
  rows.forEach((cluster, c) => placeCluster(places, cluster, left + (c % columns) * size, Math.floor(c / columns) * size, spread, first));
  return places;
}

function placeCluster({ x, y }, cluster, cx, cy, spread, first) {
  cluster.sort((a, b) => Number(first.has(b)) - Number(first.has(a)));
  cluster.forEach((device, i) => {
    x[device] = cx + spread * Math.sqrt(i) * Math.cos(i * TURN);
    y[device] = cy + spread * Math.sqrt(i) * Math.sin(i * TURN);
  });
}
