import * as z from "zod";

import { contextSections, type ContextView } from "../../domain/turns/context-view.ts";
import type { Group, GroupChat } from "../../domain/chats/group.ts";
import { agentsOf, isSessionOf, mainSessionKey, type Session } from "../../domain/turns/session.ts";
import { AppError } from "../../lib/app-error.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import { defineOperation } from "../definition/define-operation.ts";
import { requireGroup } from "../lookup/require-group.ts";
import { flag, list, name, schemaOf, time } from "../definition/schemas.ts";
import { describeContexts } from "./context-words.ts";

/** The parts that know what stands in prompts. */
export interface ContextNeeds {
  readonly store: {
    readonly sessions: {
      list(): Promise<readonly Session[]>;
      /** Absent where no host runs; for members, whose group may have no conversation yet. */
      open?: (key: string, group: string) => Promise<Session>;
    };
  };
  readonly groups: { list(): readonly (GroupChat & Partial<Pick<Group, "agent" | "agents" | "model">>)[] };
  readonly viewContext: (
    session: Session,
    how: { readonly route: string | undefined; readonly listsEntries: boolean },
  ) => Promise<ContextView>;
}

const range = { from: z.number(), to: z.number().describe("Inclusive; one less than `from` where there are none") };

/** The content of a conversation's prompts. Tokens are our own estimate, which is on the high side. */
const contextView = schemaOf<ContextView>(
  z.strictObject({
    group: z.string(),
    session: z.string(),
    first: z.number(),
    last: z.number(),
    summaries: list(z.strictObject({ ...range, tokens: z.number(), kind: z.enum(["summary", "eviction"]) })).describe(
      "Oldest first",
    ),
    raw: z.strictObject(range).describe("Entries that are shown as they are"),
    tokens: z.strictObject({
      window: z.number().nullable().describe("Of the smallest model of the group's route; null: unknown"),
      total: z.number(),
      bySection: z.record(z.enum(contextSections), z.number()),
    }),
    entries: list(
      z.strictObject({
        entry: z.number(),
        turn: z.string(),
        at: time,
        kind: z.enum(["user", "model", "tools"]),
        tokens: z.number(),
      }),
    )
      .optional()
      .describe("The whole log, with `raw`"),
  }),
);

/** Rejects with `not_found` where there is no such group or session. */
export const showContext = defineOperation<ContextNeeds>()({
  name: "context.show",
  summary: "show how the context window of a conversation is used",
  input: z.strictObject({
    group: name,
    session: name.optional().describe("id, its beginning, or key; absent: the agent's main one"),
    agent: name.optional().describe("id of an agent of the group; absent: the first one"),
    raw: flag.describe("list all entries"),
  }),
  output: contextView,
  may: { scope: "read", role: "member" },
  effect: "none",
  rest: "GET /context/{group}",
  offline: true,
  cli: {},
  chat: { form: "/context [AGENT…]", compose: describeContexts },
  run: async ({ store, groups, viewContext }, { group: wanted, session: given, agent, raw }, { member }) => {
    const group = requireGroup(groups.list(), wanted);
    const agents = agentsOf(group);
    if (agent !== undefined && !agents.includes(agent))
      throw new AppError("not_found", `Group ${wanted} has no agent "${agent}"; it has ${agents.join(", ")}.`);
    const main = mainSessionKey({ ...group, agent: agent ?? agents[0] });
    const how = { route: group.model, listsEntries: raw };
    if (member && store.sessions.open) return viewContext(await store.sessions.open(main, group.name), how);
    const all = (await store.sessions.list()).filter((session) => isSessionOf(session, group));
    const found = all.filter(({ id, key }) =>
      given === undefined ? key === main : key === given || id.startsWith(given),
    );
    const [session] = found;
    if (session && found.length === 1) return viewContext(session, how);
    if (found.length > 1)
      throw new AppError("bad_input", `Several sessions of group ${wanted} begin with "${given}".`, {
        fix: "write more of it",
      });
    const what = given === undefined ? "Nothing has been said to the agent" : `There is no session "${given}"`;
    throw new AppError("not_found", `${what} in group ${wanted}.`, { fix: ownCommand("sessions list") });
  },
});

/** Operations on prompts of conversations. */
export const contextOperations = [showContext] as const;
