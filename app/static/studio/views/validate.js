export function validateView() {}
export function validatePanel() {}
