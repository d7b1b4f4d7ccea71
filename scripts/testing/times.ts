/** Returns the content of test/times.json: whole seconds of the files that take longer than five, the longest first. */
export function timesToWrite(seconds: Readonly<Record<string, number>>): string {
  const long = Object.entries(seconds)
    .filter(([, time]) => time > 5)
    .toSorted(([, one], [, other]) => other - one)
    .map(([path, time]) => [path, Math.round(time)]);
  return `${JSON.stringify(Object.fromEntries(long), null, 2)}\n`;
}
