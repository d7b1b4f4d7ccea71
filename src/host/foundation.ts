import { join } from "node:path";

import type { Logger } from "pino";

import { installedServers } from "../abilities/mcp/packages/lock-file.ts";
import { installedSkills } from "../abilities/skills/lock-file.ts";
import { installedPlugins } from "../plugins/install/lock-file.ts";
import { InstalledRecord } from "../records/installed-record.ts";

import { auditEntryOf } from "../records/audit/event-records.ts";
import { readLogInstance } from "../records/audit/keys.ts";
import { AuditLog, type AuditLogOptions } from "../records/audit/log/log.ts";
import type { Environment } from "../config/environment.ts";
import type { Home } from "../config/home/home.ts";
import { settleHome, type SettledHome } from "../config/home/home-place.ts";
import { LiveConfig } from "../config/changes/live-config.ts";
import type { LoadedConfig } from "../config/loading/load.ts";
import { DeltaBus } from "../records/events/deltas/delta-bus.ts";
import { EventBus } from "../records/events/event-bus.ts";
import type { NewEvent } from "../domain/events/event.ts";
import type { Clock } from "../lib/time/clock.ts";
import { ForwardClock } from "../lib/time/forward-clock.ts";
import type { Redaction } from "../lib/secrets/redaction.ts";
import { writeEventLines } from "../records/session-logs/event-lines.ts";
import { ClosedLogs } from "../records/session-logs/closed-logs.ts";
import { createFloodReport } from "../records/session-logs/output-floods.ts";
import { SessionLogs } from "../records/session-logs/session-log.ts";
import { mebibyte } from "../lib/text/bytes.ts";
import { hashOfConfig } from "../config/changes/config-hash.ts";
import { openStore } from "../stores/catalog.ts";
import type { AppContext } from "./context.ts";
import { createMedia } from "./capabilities/media.ts";
import { BlobFolder } from "../stores/blobs/blob-folder.ts";
import { createGroupSpace } from "./data/files.ts";
import { createRolesOf, loadAliases } from "./people/people.ts";
import { type Interception, noInterception } from "./interception.ts";

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
  await publish({
    type: "host.started",
    actor: "host",
    data: { version, node: process.version, pid: process.pid, instance: home.instance },
  });
  await keepPlace(settled, { logger, publish });
  const sha256 = hashOfConfig(config);
  await publish({ type: "config.loaded", actor: "host", data: { sha256, fromFile: loaded.fromFile } });
  // A store that is put back to how it was before this start is known from now on.
  audit.signSoon();
  const logs = openSessionLogs(options, { store, publish }, stack);
  events.subscribe("session logs", writeEventLines(logs));
  const live = new LiveConfig(config);
  const aliases = await loadAliases(store.channelState, { config, adapters });
  return {
    config: live.view,
    live,
    adapters,
    redaction,
    home,
    environment: options.environment,
    version,
    clock,
    forwardClock: await openForwardClock(store, clock),
    logger,
    store,
    blobs: await BlobFolder.open({ folder: home.paths.blobs, clock }),
    space: createGroupSpace({ live, home }),
    media: stack.use(createMedia({ home, publish, logger })),
    logs,
    events,
    publish,
    deltas: new DeltaBus(logger),
    aliases,
    roles: createRolesOf({ live, adapters }, aliases),
    fingerprint: (text) => audit.fingerprint(text),
    installed: createInstalledRecord(home, { publish, logger }),
    interception,
  };
}

function createInstalledRecord({ paths }: Home, told: Pick<AppContext, "publish" | "logger">): InstalledRecord {
  const readers = {
    plugin: () => installedPlugins(paths.pluginLock),
    skill: () => installedSkills(paths.skillLock),
    mcp: () => installedServers(paths.mcpLock),
  };
  return new InstalledRecord({ file: join(paths.root, "installed.json"), readers, ...told });
}

/** Number of newest events used to detect a clock that was set back. */
const eventsOfTime = 1_000;

async function openForwardClock({ events }: Pick<AppContext["store"], "events">, clock: Clock): Promise<ForwardClock> {
  const { events: newest } = await events.before(Number.MAX_SAFE_INTEGER, {}, eventsOfTime);
  return new ForwardClock(clock, Math.max(0, ...newest.map(({ at }) => at)));
}

/** The log of a copied home goes on under the name that it has in its keys. */
async function openAudit(
  { paths, instance: own }: Home,
  options: Pick<AuditLogOptions, "index" | "clock" | "logger">,
): Promise<AuditLog> {
  const instance = (await readLogInstance(paths.keys)) ?? own;
  return AuditLog.open({ folder: paths.audit, keyFolder: paths.keys, instance, ...options });
}

/** Says that the home was somewhere else before, and puts it on record before a new id is used. */
async function keepPlace(
  { home, was, keep }: SettledHome,
  { logger, publish }: Pick<AppContext, "logger" | "publish">,
): Promise<void> {
  const { root } = home.paths;
  if (was && was.instance !== home.instance) {
    const data = { from: was.path, to: root, formerInstance: was.instance, instance: home.instance };
    await publish({ type: "home.copied", actor: "host", data });
    const how = was.path === root ? "was replaced by a copy" : `was copied or moved from ${was.path}`;
    logger.warn(
      data,
      `this home ${how}: it takes a new instance id; containers of the old one are left alone (label crabpot.instance=${was.instance})`,
    );
  } else if (was) {
    logger.warn({ from: was.path, to: root }, `this home was moved from ${was.path}`);
  }
  await keep();
}

/** More files of a smaller group of logs, so that the oldest of them is a small part of all. */
const logFiles = { most: 4 * mebibyte, share: 4 };

function openSessionLogs(
  { home, loaded, clock, logger }: FoundationOptions,
  { store, publish }: Pick<AppContext, "store" | "publish">,
  stack: AsyncDisposableStack,
): SessionLogs {
  const groupBytes = loaded.config.log.containerMb * mebibyte;
  const fileBytes = Math.min(logFiles.most, groupBytes / logFiles.share);
  const folder = home.paths.sessions;
  const closing = stack.use(
    new ClosedLogs({ folder, sessions: store.sessions, groupBytes, fileBytes, publish, logger }),
  );
  const onFault = (error: unknown): void => logger.error({ error }, "a flood of output could not be recorded");
  return new SessionLogs(folder, clock, {
    onFlood: createFloodReport({ publish, clock, onFault }),
    onClosed: (session) => closing.closed(session),
    fileBytes,
  });
}
