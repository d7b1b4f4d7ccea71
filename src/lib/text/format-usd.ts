/** `$1.60`; amounts below a cent with as many digits as they need to be seen: `$0.0012`. */
export function formatUsd(usd: number): string {
  if (usd === 0 || usd >= 0.01) return `$${usd.toFixed(2)}`;
  return usd < 0.000_001
    ? "<$0.000001"
    : `$${Number(usd.toPrecision(2))
        .toFixed(6)
        .replace(/(?<!0)0+$/, "")}`;
}
