// Colours that people with any colour vision can tell apart (Okabe and Ito's set, and a scale of rising lightness).

// From few to many: dark blue, teal, yellow. Lightness rises all the way, so it reads in grey too.
const SCALE = [
  [38, 25, 92],
  [47, 78, 140],
  [32, 127, 142],
  [62, 178, 118],
  [166, 214, 62],
  [250, 228, 60],
];
export const SHADES = 12;

/** The colour of a shade 0..SHADES−1. */
export function shade(index) {
  const place = (index / (SHADES - 1)) * (SCALE.length - 1);
  const low = Math.min(SCALE.length - 2, Math.floor(place));
  const mix = SCALE[low].map((value, c) => Math.round(value + (SCALE[low + 1][c] - value) * (place - low)));
  return `rgb(${mix.join(",")})`;
}

/** Shades by rank, so that a few giants do not make all others look alike. */
export function shades(values) {
  const sorted = Float64Array.from(values).sort();
  const span = Math.max(1, sorted.length - 1);
  return Uint8Array.from(values, (value) => {
    // Equal values share the middle of their ranks.
    const rank = (before(sorted, (other) => other < value) + before(sorted, (other) => other <= value) - 1) / 2;
    return Math.round((rank / span) * (SHADES - 1));
  });
}

/** How many of the sorted numbers fulfil what only the first ones do. */
function before(sorted, fulfils) {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (fulfils(sorted[middle])) low = middle + 1;
    else high = middle;
  }
  return low;
}

// One for each sampled device and what it covers; orange stays for what is sampled and sent.
export const HUES = {
  light: ["#0072b2", "#009e73", "#b5519c", "#7a5cc8", "#8a7400", "#1aa3c4", "#a0522d"],
  dark: ["#56a8f0", "#2fc79a", "#e59fc6", "#a995f5", "#d6c247", "#63d5ee", "#d19a78"],
};

/** A colour between grey and a hue, the nearer to the hue the larger the share. */
export function tint(theme, hue, share) {
  const parts = (text) => [1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16));
  const [grey, full] = [parts(INKS[theme].grey), parts(HUES[theme][hue])];
  return `rgb(${grey.map((value, c) => Math.round(value + (full[c] - value) * share)).join(",")})`;
}

export const INKS = {
  light: { rim: "#ffffff", edge: "40,50,70", ring: "#1b1f27", flow: "#c44e00", sampled: "#d55e00", text: "#1b1f27", paper: "#f4f6f9", grey: "#c2c9d4" },
  dark: { rim: "rgba(235,240,250,0.55)", edge: "205,215,235", ring: "#f2f4f8", flow: "#ff9a4d", sampled: "#ff8f4d", text: "#f2f4f8", paper: "#0d1016", grey: "#4b5568" },
};
