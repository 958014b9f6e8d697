// Numbers for people.

/** Three or four digits that matter. */
export function figure(value) {
  if (value === null || value === undefined) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e7)) return value.toExponential(1).replace("-", "−");
  if (size >= 100) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(3))).replace("-", "−");
}

/** More digits, where plans are held against one another. */
export const exact = (value) => (value === null || value === undefined ? "–" : String(Number(value.toPrecision(6))));

export const percent = (share) => (share === null ? "–" : `${figure(100 * share)} %`);

export const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
