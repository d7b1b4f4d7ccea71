import { createHash } from "node:crypto";

import type { Logger } from "pino";

import { AuditLog } from "../audit/log.ts";
import type { Environment } from "../config/environment.ts";
import type { Home } from "../config/home.ts";
import type { LoadedConfig } from "../config/load.ts";
import type { Clock } from "../lib/clock.ts";
import { createRedaction } from "../lib/logger.ts";
import { SessionLogs } from "../lib/session-log.ts";
import { openStore } from "../stores/catalog.ts";
import type { AppContext } from "./context.ts";
import { createCrashPoints } from "./crash-points.ts";
import type { PutOnRecord } from "./events.ts";
import { LimitReporter } from "./limits.ts";

/** What a host is started with. The home is locked by the caller. */
export interface FoundationParts {
  readonly environment: Environment;
  readonly home: Home;
  readonly loaded: LoadedConfig;
  readonly version: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What everything else stands on: state and proof. The first record says who has started, with which configuration. */
export async function openFoundation(
  parts: FoundationParts,
  stack: AsyncDisposableStack,
): Promise<Omit<AppContext, "metrics">> {
  const { home, loaded, clock, logger, version } = parts;
  const { config, adapters, secrets } = loaded;
  const crashPoints = createCrashPoints(parts.environment.crashAt);
  const store = crashPoints.store(stack.use(await openStore({ path: home.paths.database })));
  // The home's lock is held: whoever had leases is dead.
  await store.leases.endAll();
  const audit = stack.use(
    await AuditLog.open({
      folder: home.paths.audit,
      keyFolder: home.paths.keys,
      index: store.audit,
      clock,
      instance: home.instance,
      logger,
      redact: createRedaction(secrets),
    }),
  );
  const record: PutOnRecord = crashPoints.record((entry) => audit.append(entry));
  await record({
    type: "host-start",
    actor: "host",
    data: { version, node: process.version, pid: process.pid, instance: home.instance },
  });
  const hash = createHash("sha256").update(JSON.stringify(config)).digest("hex");
  await record({ type: "config-loaded", actor: "host", data: { sha256: hash, fromFile: loaded.fromFile } });
  // A store that is put back to how it was before this start is known from now on.
  audit.signSoon();
  const logs: SessionLogs = new SessionLogs(home.paths.sessions, clock, (session, value) => {
    const text = "The container's output came too fast for the log; lines were left out.";
    limits.report(session, { limit: "output-rate", value, text }).catch((error: unknown) => {
      logger.error({ error }, "a flood of output could not be put on record");
    });
  });
  const limits = new LimitReporter({ record, logs, clock });
  return {
    config,
    adapters,
    secrets,
    home,
    environment: parts.environment,
    version,
    clock,
    logger,
    store,
    logs,
    record,
    limits,
    fingerprint: (text) => audit.fingerprint(text),
    crashPoints,
  };
}
