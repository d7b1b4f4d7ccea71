/** Bytes of the binary unit that settings count in. */
export const mebibyte = 1024 * 1024;

const units = ["bytes", "kB", "MB", "GB"];

/** `812 bytes`, `12 kB`, `3.4 MB`: for people, in steps of a thousand. */
export function formatBytes(bytes: number): string {
  let [amount, unit] = [bytes, 0];
  while (amount >= 999.5 && unit < units.length - 1) [amount, unit] = [amount / 1000, unit + 1];
  const shown = unit >= 2 && amount < 10 ? amount.toFixed(1) : String(Math.round(amount));
  return `${shown} ${units[unit]}`;
}
