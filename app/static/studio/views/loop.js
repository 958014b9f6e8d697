export function loopView() {}
