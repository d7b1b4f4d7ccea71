import { join } from "node:path";

import type { Logger } from "pino";

import { installedPlugins } from "../plugins/install/lock-file.ts";
import { InstalledRecord } from "../records/installed-record.ts";
import { auditEntryOf } from "../records/audit/event-records.ts";
import { readLogInstance } from "../records/audit/keys.ts";
import { AuditLog, type AuditLogOptions } from "../records/audit/log/log.ts";
import { hasTrait } from "../config/adapters.ts";
import type { Environment } from "../config/environment.ts";
import type { Home } from "../config/home/home.ts";
import { recordMovedHome, settleHome } from "../config/home/home-place.ts";
import { LiveConfig } from "../config/changes/live-config.ts";
import type { LoadedConfig } from "../config/loading/load.ts";
import { DeltaBus } from "../records/events/deltas/delta-bus.ts";
import { EventBus } from "../records/events/event-bus.ts";
import type { NewEvent } from "../domain/events/event.ts";
import type { Clock } from "../lib/time/clock.ts";
import { openForwardClock } from "../records/events/open-forward-clock.ts";
import { recordConfig, recordStart, recordStop } from "../records/host-life.ts";
import type { Redaction } from "../lib/secrets/redaction.ts";
import { writeEventLines } from "../records/session-logs/event-lines.ts";
import { openSessionLogs } from "../records/session-logs/open-session-logs.ts";
import { mebibyte } from "../lib/text/bytes.ts";
import { hashOfConfig } from "../config/changes/config-hash.ts";
import { openStore } from "../stores/catalog.ts";
import { BlobFolder } from "../stores/blobs/blob-folder.ts";
import { createGroupSpace } from "./storage.ts";
import { createRolesOf, loadAliases } from "../config/serving/people.ts";
import { type AppContext, type Interception, noInterception } from "./context.ts";

/** Options for opening the foundation. The caller holds the home's lock. */
export interface FoundationOptions {
  readonly environment: Environment;
  readonly home: Home;
  readonly loaded: LoadedConfig;
  readonly version: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly interception?: Interception | undefined;
  /** Takes secrets out of logs and records; it knows those of `loaded`. */
  readonly redaction: Redaction;
}

/** Opens state and proof, on which everything else depends. The first record names starter and configuration. */
export async function openFoundation(
  options: FoundationOptions,
  stack: AsyncDisposableStack,
): Promise<Omit<AppContext, "metrics">> {
  const { loaded, clock, logger, redaction, version } = options;
  const settled = await settleHome(options.home);
  const { home } = settled;
  const { config, adapters } = loaded;
  const { interception = noInterception } = options;
  const store = interception.store(stack.use(await openStore({ path: home.paths.database })));
  // The home's lock is held: whoever had leases is dead.
  await store.leases.endAll();
  const audit = stack.use(await openAudit(home, { index: store.audit, clock, logger }));
  const append = interception.audit((entry) => audit.append(entry));
  const record = async (event: NewEvent): Promise<void> => {
    const entry = auditEntryOf(event);
    if (entry) await append(entry);
  };
  const events = stack.use(new EventBus({ store: store.events, record, redact: redaction.redact, clock, logger }));
  const { publish } = events;
  await recordStart(publish, { version, instance: home.instance });
  await recordMovedHome(settled, publish, logger);
  await recordConfig(publish, { sha256: hashOfConfig(config), fromFile: loaded.fromFile });
  // A store that is put back to how it was before this start is known from now on.
  audit.signSoon();
  const { sessions: folder } = home.paths;
  const groupBytes = config.log.containerMb * mebibyte;
  const logs = openSessionLogs(stack, { folder, sessions: store.sessions, groupBytes, publish, clock, logger });
  events.subscribe("session logs", writeEventLines(logs));
  const live = new LiveConfig(config);
  const aliases = await loadAliases(store.channelState, { config, adapters });
  stack.defer(() => recordStop(publish));
  return {
    config: live.view,
    live,
    adapters,
    hasTrait: (channel, trait) => hasTrait({ config: live.view, adapters }, channel, trait),
    redaction,
    home,
    environment: options.environment,
    version,
    clock,
    forwardClock: await openForwardClock(store.events, clock),
    logger,
    store,
    blobs: await BlobFolder.open({ folder: home.paths.blobs, clock }),
    space: createGroupSpace({ live, home }),
    logs,
    events,
    publish,
    deltas: new DeltaBus(logger),
    aliases,
    roles: createRolesOf({ live, adapters }, aliases),
    fingerprint: (text) => audit.fingerprint(text),
    installed: stack.use(createInstalledRecord(home, { publish, logger })),
    interception,
  };
}

function createInstalledRecord(
  { paths }: Home,
  { publish, logger }: Pick<AppContext, "publish" | "logger">,
): InstalledRecord {
  const record = new InstalledRecord({ file: join(paths.root, "installed.json"), publish, logger });
  record.follow("plugin", () => installedPlugins(paths.pluginLock));
  return record;
}

/** The log of a copied home goes on under the name that it has in its keys. */
async function openAudit(
  { paths, instance: own }: Home,
  options: Pick<AuditLogOptions, "index" | "clock" | "logger">,
): Promise<AuditLog> {
  const instance = (await readLogInstance(paths.keys)) ?? own;
  return AuditLog.open({ folder: paths.audit, keyFolder: paths.keys, instance, ...options });
}
