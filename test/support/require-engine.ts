/** Replaced by the real check: see scripts/setup. */
export default function setup(): void {}
