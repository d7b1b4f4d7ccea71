import { AppError } from "../../lib/app-error.ts";

/** Maximum candidates in a message. */
const namedCandidates = 5;

/** Ids of one kind. `beginningWith`: those that begin with this text, in order, at most `limit`. */
export interface IdSource {
  /** Kind of thing, as in "There is no turn". */
  readonly what: string;
  /** The command that lists them. */
  readonly list: string;
  readonly beginningWith: (prefix: string, limit: number) => Promise<readonly string[]>;
}

/**
 * The id that an operator means: the one given, or the only one that begins with it. Throws `not_found` when there is
 * none, and `bad_input` with the candidates when there are several.
 */
export async function resolveId(given: string, { what, list, beginningWith }: IdSource): Promise<string> {
  const found = await beginningWith(given, namedCandidates + 1);
  if (found.includes(given)) return given;
  const [id] = found;
  if (id === undefined) throw new AppError("not_found", `There is no ${what} "${given}".`, { fix: `See \`${list}\`.` });
  if (found.length === 1) return id;
  const named = found.slice(0, namedCandidates).join(", ");
  const more = found.length > namedCandidates ? " and more" : "";
  const message = `"${given}" is the beginning of more than one ${what}: ${named}${more}.`;
  throw new AppError("bad_input", message, { fix: "Give more of the id." });
}
