// Networks to begin with.

/** What a first visit shows: a plan for a small made-up network. */
export const FIRST = { view: "plan", n: 60, planned: 1 };

/** Each has settings, or a file that is imported as a person's own would be. */
export const EXAMPLES = [
  {
    name: "The paper's network",
    about: "100 devices, each pair linked with probability 0.1, three labels each.",
    settings: { topology: "erdos-renyi", n: 100, degree: 10, budgets: "tight", sizes: "even", labels: 3, stragglers: 5, seed: 1, size: 5 },
  },
  {
    name: "A town's mesh",
    about: "45 radio nodes of a made-up town, at their coordinates, with their owners' names.",
    file: "town.json",
    settings: { size: 6 },
  },
  {
    name: "Scarce budgets",
    about: "80 devices that can hardly send: what little moves has to count.",
    settings: { topology: "geometric", n: 80, degree: 8, budgets: "scarce", sizes: "uneven", labels: 2, stragglers: 10, seed: 3, size: 6 },
  },
];
