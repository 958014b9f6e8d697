// Points in square cells, so that what is near a place is found without looking at every point.

export class Cells {
  /** Cells of at least this side; wider ones where the points are so far apart that most cells would be empty. */
  constructor(x, y, side) {
    const n = x.length;
    let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let i = 0; i < n; i += 1) {
      left = Math.min(left, x[i]);
      right = Math.max(right, x[i]);
      low = Math.min(low, y[i]);
      high = Math.max(high, y[i]);
    }
    const [width, height] = [right - left, high - low];
    this.side = Math.max(side, Math.sqrt((width * height) / n), width / n, height / n, 1e-9);
    [this.left, this.low] = [left, low];
    [this.columns, this.rows] = [width, height].map((length) => Math.floor(length / this.side) + 1);
    // The points of cell c are members[first[c]] to members[first[c + 1] - 1].
    this.first = new Int32Array(this.columns * this.rows + 1);
    this.members = new Int32Array(n);
    const cell = Int32Array.from(x, (_, i) => this.row(y[i]) * this.columns + this.column(x[i]));
    for (const c of cell) this.first[c + 1] += 1;
    for (let c = 1; c < this.first.length; c += 1) this.first[c] += this.first[c - 1];
    const next = this.first.slice();
    cell.forEach((c, i) => {
      this.members[next[c]] = i;
      next[c] += 1;
    });
  }

  column(x) {
    return Math.min(this.columns - 1, Math.max(0, Math.floor((x - this.left) / this.side)));
  }

  row(y) {
    return Math.min(this.rows - 1, Math.max(0, Math.floor((y - this.low) / this.side)));
  }

  /** Whether the test holds for a point in the cells that this box touches. */
  some([left, low, right, high], test) {
    for (let row = this.row(low); row <= this.row(high); row += 1) {
      const cells = row * this.columns;
      const end = this.first[cells + this.column(right) + 1];
      for (let place = this.first[cells + this.column(left)]; place < end; place += 1) {
        if (test(this.members[place])) return true;
      }
    }
    return false;
  }
}
