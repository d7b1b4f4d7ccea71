import pino from "pino";

import { erasableMemories } from "../abilities/memory/offline.ts";
import type { Adapters } from "../config/adapters.ts";
import { idsOfPerson } from "../config/configured/people.ts";
import type { Environment } from "../config/environment.ts";
import { groupTemplates } from "../config/home/group-folders.ts";
import { type HomePaths, prepareHome } from "../config/home/home.ts";
import { loadPartOfConfig } from "../config/loading/part-of-config.ts";
import type { Config } from "../config/schema/config.ts";
import { readVersion } from "../lib/process/version.ts";
import { Redaction } from "../lib/secrets/redaction.ts";
import { systemClock } from "../lib/time/clock.ts";
import type { ErasureNeeds } from "../operations/people/operations.ts";
import { PersonEraser } from "../records/erasure/erase-person.ts";
import type { Aliases } from "../rights/people/aliases.ts";
import { lockHome } from "../stores/catalog.ts";
import type { AppContext } from "./context.ts";
import { openFoundation } from "./foundation.ts";

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

/**
 * The same as a running host does, in a home where none runs: this process is the home's host meanwhile, which is on
 * record.
 */
export async function openOfflineErasure(
  environment: Environment,
  adapters: Adapters,
): Promise<ErasureNeeds & AsyncDisposable> {
  await using opening = new AsyncDisposableStack();
  const home = await prepareHome(environment.crabpotHome);
  const loaded = await loadPartOfConfig(home.paths.config, environment.variables, ["log"], adapters);
  opening.use(await lockHome(home.paths.root, { pid: process.pid, startedAt: systemClock.now() }));
  const redaction = new Redaction(loaded.secrets);
  const logger = pino({ level: "silent" });
  const version = await readVersion(environment.checkout);
  const foundation = await openFoundation(
    { environment, home, loaded, version, clock: systemClock, logger, redaction },
    opening,
  );
  const eraser = createEraser(foundation);
  const owned = opening.move();
  return {
    eraser,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
