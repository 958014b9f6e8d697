export function compareView() {}
export function comparePanel() {}
