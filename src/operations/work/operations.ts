import { randomUUID } from "node:crypto";

import * as z from "zod";

import type { Group } from "../../domain/chats/group.ts";
import { origins } from "../../domain/people/origin.ts";
import { mainSessionKey, sideSessionKey } from "../../domain/turns/session.ts";
import { causes, type Work, workStates } from "../../domain/work/work.ts";
import { AppError } from "../../lib/app-error.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import { shorten } from "../../lib/text/visible.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { Store } from "../../stores/contract/store.ts";
import { defineOperation } from "../definition/define-operation.ts";
import { lineageView, viewLineage } from "../definition/lineage-view.ts";
import { requireGroup } from "../lookup/require-group.ts";
import { resolveId } from "../lookup/resolve-id.ts";
import { limit, list, name, onlyGroup, replyTarget, listedChars, time } from "../definition/schemas.ts";

/** The parts that give agents work. */
export interface WorkNeeds {
  readonly store: {
    readonly sessions: Pick<Store["sessions"], "open">;
    readonly work: Pick<Store["work"], "add" | "drop" | "get" | "idsBeginningWith" | "list">;
  };
  readonly groups: { list(): readonly Group[] };
  /** There is new work. */
  readonly workAdded: () => void;
  readonly clock: Pick<Clock, "now">;
}

/** Something that a turn is made of, other than waiting messages. */
const workView = z.strictObject({
  id: z.string(),
  group: z.string(),
  session: z.string(),
  cause: z.enum(causes).exclude(["message"]),
  dueAt: time,
  dedupe: z.string().optional(),
  replyTo: replyTarget,
  origin: z.enum(origins),
  ...lineageView.shape,
  text: z.string().describe("Shortened"),
  payload: z.string().optional(),
  seq: z.number(),
  state: z.enum(workStates),
  turn: z.string().optional(),
  reason: z.string().optional(),
  createdAt: time,
});

export type WorkView = z.infer<typeof workView>;

export const listWork = defineOperation<{ readonly store: { readonly work: Pick<Store["work"], "list"> } }>()({
  name: "work.list",
  summary: "list work of agents, newest first",
  input: z.strictObject({
    group: onlyGroup,
    state: z.enum(workStates).optional().describe("only in this state"),
    limit: limit(20),
  }),
  output: list(workView),
  may: { scope: "read" },
  effect: "none",
  rest: "GET /work",
  listAs: "work",
  offline: true,
  cli: {
    table: ["id", "group", "cause", "state", "dueAt", "turn", "reason", { field: "text", short: true }],
    none: () => "No such work.",
  },
  run: async ({ store }, filter) => (await store.work.list(filter)).map(view),
});

export const addWork = defineOperation<WorkNeeds>()({
  name: "work.add",
  summary: "give a group's agent something to do",
  input: z.strictObject({
    group: name.describe("the group whose agent does it"),
    text: z.string().min(1).max(16_000),
    session: z
      .string()
      .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, "at most 64 lower case letters, digits, - and _")
      .optional()
      .describe("a session beside the group's main one, which is made if it is new"),
    silent: z.boolean().default(false).describe("the answer goes nowhere"),
  }),
  output: workView,
  may: { scope: "admin" },
  effect: "change",
  cli: { args: ["text"], say: ({ id, group }) => `The agent of group ${group} has it: work ${id}.` },
  run: async (needs, wanted) => {
    const { store, clock } = needs;
    const group = requireGroup(needs.groups.list(), wanted.group);
    const { id: session } =
      wanted.session === undefined
        ? await store.sessions.open(mainSessionKey(group), group.name)
        : await store.sessions.open(sideSessionKey(group, { kind: "api", id: wanted.session }), group.name, {
            kind: "api",
          });
    const id = randomUUID();
    const now = clock.now();
    await store.work.add(
      {
        id,
        group: group.name,
        session,
        cause: "api",
        dueAt: now,
        replyTo: wanted.silent ? { kind: "nowhere" } : { kind: "chat", channel: group.channel, chat: group.chat },
        origin: "owner",
        lineage: { role: "owner", origins: ["owner"], people: [], narrowed: [] },
        text: wanted.text,
      },
      now,
    );
    needs.workAdded();
    return view(await found(needs, id));
  },
});

export const dropWork = defineOperation<WorkNeeds>()({
  name: "work.drop",
  summary: "give up work that no turn has taken",
  input: z.strictObject({ id: name }),
  output: z.strictObject({ dropped: z.string() }),
  may: { scope: "admin" },
  effect: "change",
  cli: { args: ["id"], say: ({ dropped }) => `Work ${dropped} is dropped.` },
  run: async (needs, { id: given }) => {
    const { work } = needs.store;
    const id = await resolveId(given, {
      what: "work",
      list: ownCommand("work list"),
      beginningWith: (prefix, most) => work.idsBeginningWith(prefix, most),
    });
    if (await work.drop(id, "dropped by the operator")) return { dropped: id };
    const { state } = await found(needs, id);
    throw new AppError("conflict", `Work ${id} is ${state}; only work that is due can be dropped.`, {
      fix: ownCommand("work list"),
    });
  },
});

async function found({ store }: WorkNeeds, id: string): Promise<Work> {
  const work = await store.work.get(id);
  if (!work) throw new AppError("not_found", `There is no work ${id}.`, { fix: ownCommand("work list") });
  return work;
}

function view({ text, lineage, ...work }: Work): WorkView {
  return { ...work, ...viewLineage(lineage), text: shorten(text, listedChars) };
}

/** Operations on work of agents. */
export const workOperations = [listWork, addWork, dropWork] as const;
