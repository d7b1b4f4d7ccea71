import { hintFor } from "../../lib/text/nearest.ts";
import type { ConfigFault } from "../faults.ts";
import { formatPath } from "../faults.ts";

/** A name that leads nowhere, and which one was meant. */
export function missing(
  path: readonly PropertyKey[],
  noun: string,
  name: string,
  known: readonly string[],
): ConfigFault {
  return { path: formatPath(path), detail: `there is no ${noun} "${name}"; ${hintFor(name, known)}` };
}
