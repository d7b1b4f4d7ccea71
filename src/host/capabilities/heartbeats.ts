import { join } from "node:path";

import { timezoneOf } from "../../config/groups.ts";
import { heartbeatOf } from "../../config/heartbeat.ts";
import type { Group } from "../../domain/chats/group.ts";
import { heartbeatFile } from "../../domain/work/heartbeat.ts";
import { totalUsdPerDay } from "../../domain/turns/usage.ts";
import { Heartbeats } from "../../abilities/heartbeat/heartbeats.ts";
import type { GroupRegistry } from "../../intake/chats/group-registry.ts";
import { AppError } from "../../lib/app-error.ts";
import { HostileFolder, type HostileReading } from "../../lib/files/open-hostile-file.ts";
import { utcDay } from "../../lib/time/utc-day.ts";
import type { SideSessions } from "../../work/sessions/side-sessions.ts";
import type { AppContext } from "../context.ts";
import { isAtWork } from "../turns/group-work.ts";

type HeartbeatContext = Pick<AppContext, "config" | "live" | "store" | "events" | "publish" | "clock" | "logger"> & {
  readonly home: { readonly paths: Pick<AppContext["home"]["paths"], "groups"> };
};

/** Larger ones are cut: nobody looks at so much every half hour. */
const fileBytes = 64 * 1024;
/** Whoever wrote so long ago may still be about to write again. */
const quietMs = 5 * 60_000;

/** Lets agents look by themselves at what is due, as far as the configuration says so. */
export function createHeartbeats(
  context: HeartbeatContext,
  stack: AsyncDisposableStack,
  options: { readonly groups: Pick<GroupRegistry, "list">; readonly sideSessions: SideSessions },
): Heartbeats {
  const { config, live, home, store, events, publish, clock, logger } = context;
  const heartbeats = stack.use(
    new Heartbeats({
      groups: () =>
        options.groups.list().flatMap((group) => {
          const settings = heartbeatOf(config, group.name);
          return settings ? [{ group, settings }] : [];
        }),
      zoneOf: (group) => timezoneOf(config, group),
      readFile: (group) => readFile(join(home.paths.groups, group)),
      isTalking: (group) => isTalking(context, group),
      hasBudget: (group) => hasBudget(context, group),
      originsOf: async (group) => (await store.origins.ofFolder(group)).map(({ origin }) => origin),
      sideSessions: options.sideSessions,
      isKnown: (dedupe) => store.work.isKnown(dedupe),
      publish,
      clock,
      logger,
    }),
  );
  live.onChange(() => heartbeats.changed());
  events.subscribe("heartbeats", ({ type }) => {
    if (type === "group.added" || type === "group.removed") heartbeats.changed();
  });
  heartbeats.changed();
  return heartbeats;
}

async function readFile(folder: string): Promise<HostileReading> {
  try {
    await using opened = await HostileFolder.open(folder);
    return await opened.readFile(heartbeatFile, { maxBytes: fileBytes, cut: true });
  } catch (error) {
    if (error instanceof AppError && error.code === "not_found") return { ok: false, reason: "missing" };
    throw error;
  }
}

async function isTalking({ store, clock }: HeartbeatContext, group: Group): Promise<boolean> {
  if (await isAtWork({ store }, group)) return true;
  const filter = { types: ["message.received"], group: group.name } as const;
  const { events } = await store.events.before(Number.MAX_SAFE_INTEGER, filter, 1);
  const [newest] = events;
  // The clock may have been set back.
  return newest !== undefined && Math.abs(clock.now() - newest.at) < quietMs;
}

async function hasBudget({ store, config, clock }: HeartbeatContext, group: Group): Promise<boolean> {
  const used = await store.usage.ofDay(utcDay(clock.now()));
  const own = used.find((entry) => entry.group === group.name);
  const { tokensPerDay = Infinity, usdPerDay = Infinity } = group.budget;
  const total = config.budgets.total;
  const tokens = used.reduce((sum, entry) => sum + entry.tokens, 0);
  const usd = used.reduce((sum, entry) => sum + entry.usd, 0);
  return (
    (own?.tokens ?? 0) < tokensPerDay &&
    (own?.usd ?? 0) < usdPerDay &&
    tokens < (total.tokensPerDay ?? Infinity) &&
    usd < (totalUsdPerDay(total) ?? Infinity)
  );
}
