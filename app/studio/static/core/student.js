// Means of a few values with their 95 % intervals by Student's t, as the service computes them.

/** P(|T| ≤ t) for whole degrees of freedom, with θ = atan(t/√ν): Abramowitz and Stegun 26.7.3 and 26.7.4. */
function within(angle, freedom) {
  const [sine, cosine] = [Math.sin(angle), Math.cos(angle)];
  const odd = freedom % 2;
  let term = odd ? cosine : 1;
  let sum = freedom > 1 ? term : 0;
  for (let i = odd ? 3 : 2; i < freedom; i += 2) {
    term *= ((i - 1) / i) * cosine * cosine;
    sum += term;
  }
  return odd ? (2 / Math.PI) * (angle + sine * sum) : sine * sum;
}

/** The t that |T| stays below with a probability of 95 %. */
export function quantile(freedom) {
  let [low, high] = [0, Math.PI / 2];
  for (let i = 0; i < 60; i += 1) {
    const middle = (low + high) / 2;
    if (within(middle, freedom) < 0.95) low = middle;
    else high = middle;
  }
  return Math.sqrt(freedom) * Math.tan(low);
}

/** {mean, low?, high?}; one value has no interval. */
export function interval(values) {
  const count = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / count;
  if (count < 2) return { mean };
  const spread = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (count - 1));
  const half = (quantile(count - 1) * spread) / Math.sqrt(count);
  return { mean, low: mean - half, high: mean + half };
}
