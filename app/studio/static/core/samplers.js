// The samplers that can be asked for, those that search also under each of their objectives.

/** [{name, description}]: NAME, and NAME:OBJECTIVE for all objectives but the default. */
export function samplerChoices(samplers) {
  return samplers.flatMap(({ name, description, objectives = [] }) => [
    { name, description: objectives.length ? `${description} Objective: ${objectives[0]}.` : description },
    ...objectives.slice(1).map((objective) => ({ name: `${name}:${objective}`, description: `${description} Objective: ${objective}.` })),
  ]);
}
