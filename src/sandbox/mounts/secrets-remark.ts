/** Maximum names in a message. */
const mostNamed = 5;

/**
 * A sentence about such files in a mount; empty when there are none. `count`: all that were found, of which `paths` are
 * the first.
 */
export function secretsRemark({
  paths,
  count,
  isCovered,
}: {
  readonly paths: readonly string[];
  readonly count: number;
  readonly isCovered: boolean;
}): string {
  if (count === 0) return "";
  const named = paths.slice(0, mostNamed).join(", ");
  const more = count > mostNamed ? ` and ${count - mostNamed} more` : "";
  return isCovered
    ? ` Covered in it, because it looks like secrets: ${named}${more}.`
    : ` Its agent can read what looks like secrets: ${named}${more}.`;
}
