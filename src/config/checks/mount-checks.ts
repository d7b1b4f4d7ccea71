import type { ConfigFault } from "../faults.ts";
import { formatPath } from "../faults.ts";
import type { Config } from "../schema/config.ts";

/** Finds folders in which an agent may write to what programs of the operator's run by themselves: warnings. */
export function unprotectedMounts({ groups }: Pick<Config, "groups">): ConfigFault[] {
  return Object.entries(groups).flatMap(([name, { mounts }]) =>
    mounts.flatMap(({ access, protect, target }, index) =>
      access === "rw" && protect === "none"
        ? [
            {
              path: formatPath(["groups", name, "mounts", index, "protect"]),
              detail: `nothing in ${target} is protected: the agent can change what you run there, such as .git/hooks`,
              fix: "leave protect out, or write access: review",
            },
          ]
        : [],
    ),
  );
}
