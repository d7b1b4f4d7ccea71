const number = String.raw`(\d[\d,_]{2,10})`;
/** A number behind a comparison, behind a word for a limit, or before one: the first of these that a text has. */
const limits: readonly RegExp[] = [
  `(?:>|<=) ?${number}`,
  `(?:limit|length|size|window|allowed)[^\\d.]{0,20}(?:1, )?${number}`,
  `${number} maximum`,
].map((limit) => new RegExp(limit, "i"));

/** Window in tokens that a refusal of a too long prompt names; undefined when it names none. */
export function windowIn(refusal: string): number | undefined {
  const said = limits.map((limit) => limit.exec(refusal)?.[1]).find((found) => found !== undefined);
  return said === undefined ? undefined : Number(said.replaceAll(/[,_]/g, ""));
}
