import { nearest } from "../../lib/text/nearest.ts";
import type { ConfigFault } from "../faults.ts";
import { formatPath } from "../faults.ts";

/** A name that leads nowhere, and which one was meant. */
export function missing(
  path: readonly PropertyKey[],
  noun: string,
  name: string,
  known: readonly string[],
): ConfigFault {
  const near = nearest(name, known);
  const hint = near === undefined ? `there are: ${known.join(", ")}` : `did you mean ${near}?`;
  return { path: formatPath(path), detail: `there is no ${noun} "${name}"; ${hint}` };
}
