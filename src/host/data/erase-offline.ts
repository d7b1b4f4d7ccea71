import pino from "pino";

import type { Adapters } from "../../config/adapters.ts";
import type { Environment } from "../../config/environment.ts";
import { prepareHome } from "../../config/home/home.ts";
import { loadPartOfConfig } from "../../config/loading/part-of-config.ts";
import { Redaction } from "../../lib/secrets/redaction.ts";
import { systemClock } from "../../lib/time/clock.ts";
import { readVersion } from "../../lib/process/version.ts";
import type { ErasureNeeds } from "../../operations/people/operations.ts";
import { lockHome } from "../../stores/catalog.ts";
import { createEraser } from "./erasure.ts";
import { openFoundation } from "../foundation.ts";

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
  opening.defer(() => foundation.publish({ type: "host.stopped", actor: "host", data: {} }));
  const eraser = createEraser(foundation);
  const owned = opening.move();
  return {
    eraser,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
