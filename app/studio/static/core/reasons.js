// Why a device was or was not picked, from the service's record of the search. Gains compare within a round only.

/** What this device would have added in a round; undefined if the plan does not tell. */
export function gainIn(pick, device) {
  const place = pick.gains?.device.indexOf(device) ?? -1;
  return place < 0 ? pick.candidate_scores[pick.candidates.indexOf(device)] : pick.gains.gain[place];
}

/** The rounds in which this device was picked or passed over: [{number, pick, own, missed}], `missed` by which gain it is below the winner. */
export function roundsOf(trace, device) {
  return (trace ?? []).flatMap((pick, i) => {
    const own = pick.device === device ? pick.score : gainIn(pick, device);
    return own === undefined ? [] : [{ number: i + 1, pick, own, missed: pick.score - own }];
  });
}

/** The round in which a device that was passed over missed the least gain, or null. */
export function closest(rounds) {
  return rounds.reduce((best, one) => (best === null || one.missed < best.missed ? one : best), null);
}

/** Sampled devices with what they hold, receive and cover: a row each, in the order of choice. */
export function memberRows(network, story, cover) {
  const end = story.frames.at(-1);
  const covered = new Map();
  cover.by.forEach((place, device) => {
    if (place >= 0 && !story.order.has(device)) covered.set(place, (covered.get(place) ?? 0) + 1);
  });
  return story.sampled.map((device, place) => {
    const first = network.devices.data[device];
    const received = story.frames.reduce((sum, frame) => sum + (frame.received[place] ?? 0), 0);
    return { device, first, received, last: end.data[place], covers: covered.get(place) ?? 0 };
  });
}
