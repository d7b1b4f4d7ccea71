import * as z from "zod";

import { agentOfSession, type HotContainerView, sessionKinds } from "../../domain/turns/session.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import { formatTime } from "../../lib/time/formats.ts";
import type { Store } from "../../stores/contract/store.ts";
import { defineOperation } from "../definition/define-operation.ts";
import { resolveId } from "../lookup/resolve-id.ts";
import { list, name, nothing, time } from "../definition/schemas.ts";

/** The parts that look at sessions. */
export interface SessionReadingNeeds {
  readonly store: { readonly sessions: Pick<Store["sessions"], "list"> };
  readonly pool: { list(): HotContainerView[] };
}

/** The parts that end their containers. */
export interface SessionNeeds extends SessionReadingNeeds {
  readonly pool: SessionReadingNeeds["pool"] & { stop(session: string, reason: string): Promise<boolean> };
}

/** A session and, if it has one, its container. */
const sessionView = z.strictObject({
  session: z.string(),
  key: z.string(),
  kind: z.enum(sessionKinds),
  agent: z.string(),
  parent: z.string().optional().describe("The session that it works for"),
  group: z.string(),
  conversation: z.number(),
  generation: z.number(),
  container: z
    .strictObject({ name: z.string(), state: z.custom<HotContainerView["state"]>(), lastUsedAt: time })
    .optional(),
});

export const listSessions = defineOperation<SessionReadingNeeds>()({
  name: "sessions.list",
  summary: "list sessions and their containers",
  input: nothing,
  output: list(sessionView),
  may: { scope: "read" },
  effect: "none",
  rest: "GET /sessions",
  listAs: "sessions",
  offline: true,
  cli: {
    table: [
      "session",
      "group",
      "agent",
      "kind",
      "parent",
      { title: "container", of: ({ container }) => container?.state ?? "none" },
      { title: "name", of: ({ container }) => container?.name },
      { title: "last used (UTC)", of: ({ container }) => formatTime(container?.lastUsedAt) },
      "generation",
      "conversation",
    ],
    none: () => "No sessions yet.",
  },
  run: async ({ store, pool }) => {
    const hot = new Map(pool.list().map((container) => [container.session, container]));
    const sessions = await store.sessions.list();
    return sessions
      .filter(({ archivedAt }) => archivedAt === undefined)
      .map((session) => {
        const container = hot.get(session.id);
        return {
          session: session.id,
          key: session.key,
          kind: session.kind,
          agent: agentOfSession(session),
          parent: session.parent,
          group: session.group,
          conversation: session.conversation,
          generation: session.generation,
          container: container && { name: container.name, state: container.state, lastUsedAt: container.lastUsedAt },
        };
      });
  },
});

export const stopSession = defineOperation<SessionNeeds>()({
  name: "sessions.stop",
  summary: "end the containers of a session or group; a running turn goes on in a new one",
  input: z.strictObject({ target: name.describe("id of a session or its beginning, its key, or a group's name") }),
  output: z.strictObject({ stopped: list(z.string()).describe("Names of the containers") }),
  may: { scope: "admin" },
  effect: "change",
  cli: {
    args: ["target"],
    say: ({ stopped }) => (stopped.length === 0 ? "It has no container." : `Stopped ${stopped.join(", ")}.`),
  },
  run: async ({ store, pool }, { target }) => {
    const sessions = await store.sessions.list();
    let meant = sessions.filter((session) => [session.id, session.key, session.group].includes(target));
    if (meant.length === 0) {
      const id = await resolveId(target, {
        what: "session or group",
        list: ownCommand("sessions list"),
        beginningWith: async (prefix) => sessions.map((session) => session.id).filter((one) => one.startsWith(prefix)),
      });
      meant = sessions.filter((session) => session.id === id);
    }
    const stopped: string[] = [];
    for (const { id } of meant) {
      const container = pool.list().find((hot) => hot.session === id);
      if ((await pool.stop(id, "the operator stopped it")) && container) stopped.push(container.name);
    }
    return { stopped };
  },
});

/** Operations on sessions and their containers. */
export const sessionOperations = [listSessions, stopSession] as const;
