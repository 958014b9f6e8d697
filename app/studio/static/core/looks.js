// How a scheme or sampler looks in every chart: the table of sampler/scheme_styles.py, which a test holds this one to.

/** The colour of each sampler; a scheme has that of its sampler. */
const COLOURS = {
  gcn_branch: "#0072B2",
  random: "#E69F00",
  heuristic: "#009E73",
  greedy: "#D55E00",
  "greedy:resemblance": "#CC79A7",
  random_branch: "#56B4E9",
  gcn_rank: "#332288",
  local_search: "#44AA99",
  exhaustive: "#999933",
  all: "#000000",
  gcn_branch_fedl: "#882255",
  plan: "#661100",
};
const SAMPLER_OF = { ours: "greedy", smart: "gcn_branch" };
const UNKNOWN = "#777777";
const [SOLID, DASHED] = ["", "7 4"];

export const samplerColour = (sampler) => COLOURS[sampler] ?? COLOURS[sampler.split(":")[0]] ?? UNKNOWN;

/** A scheme's colour and dash: solid if data is offloaded, dashed if not. */
export function lookOf(scheme) {
  const named = scheme.replace("-offload", "").split("+")[0];
  const moves = scheme !== named || scheme === "plan" || scheme === "all";
  return { colour: samplerColour(SAMPLER_OF[named] ?? named), dash: moves ? SOLID : DASHED };
}

const DASHES = [SOLID, "7 3", "2 3", "9 3 2 3", "12 4", "4 2", "1 4"];

/** Looks for what has none of its own, such as devices, in the order of the chart. */
export function nthLook(i) {
  const colours = Object.values(COLOURS);
  return { colour: colours[i % 6], dash: DASHES[i % DASHES.length] };
}

const parts = (colour) => [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16) / 255);
const light = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
const luminance = ([red, green, blue]) => 0.2126 * light(red) + 0.7152 * light(green) + 0.0722 * light(blue);

/** The colour with as much white as it takes to be seen on dark paper. */
export function onDark(colour) {
  if (colour === COLOURS.all) return "#ffffff";
  for (let share = 0; ; share += 0.05) {
    const mixed = parts(colour).map((value) => value + (1 - value) * share);
    if (luminance(mixed) > 0.22) return `#${mixed.map((value) => Math.round(255 * value).toString(16).padStart(2, "0")).join("")}`;
  }
}
