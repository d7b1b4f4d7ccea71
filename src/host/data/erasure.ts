import { erasableMemories } from "../../abilities/memory/file/erasable-memories.ts";
import type { Environment } from "../../config/environment.ts";
import { groupTemplates } from "../../config/home/group-folders.ts";
import type { HomePaths } from "../../config/home/home.ts";
import { idsOfPerson } from "../../config/configured/people.ts";
import type { Config } from "../../config/schema/config.ts";
import { PersonEraser } from "../../records/erasure/erase-person.ts";
import type { Aliases } from "../../rights/people/aliases.ts";
import type { AppContext } from "../context.ts";

type ErasureContext = Pick<AppContext, "store" | "publish" | "fingerprint" | "clock"> & {
  readonly home: { readonly paths: HomePaths };
  readonly environment: Pick<Environment, "checkout">;
  readonly config: Pick<Config, "people">;
  readonly aliases: Pick<Aliases, "keysOf">;
};

/** Erases people's words from a home. `quiet` keeps groups quiet meanwhile, where a host runs. */
export function createEraser(
  { store, home: { paths }, environment, config, aliases, publish, fingerprint, clock }: ErasureContext,
  quiet?: (groups: readonly string[]) => Promise<AsyncDisposable>,
): PersonEraser {
  return new PersonEraser({
    store,
    memories: erasableMemories(paths.memory),
    paths: { ...paths, templates: groupTemplates(environment.checkout) },
    idsOf: (who) => idsOfPerson(config, who, (member) => aliases.keysOf(member)),
    digest: (key) => fingerprint(key).sha256,
    publish,
    now: () => clock.now(),
    quiet,
  });
}
