import { randomUUID } from "node:crypto";

import type { Group } from "../domain/group.ts";
import { mainSessionKey, sideSessionKey } from "../domain/session.ts";
import type { Work } from "../domain/work.ts";
import { AppError } from "../lib/app-error.ts";
import type { Clock } from "../lib/time/clock.ts";
import { shorten } from "../lib/text/visible.ts";
import type { Store } from "../stores/store.ts";
import type { NewOperatorWork, Operations, WorkView } from "./operations.ts";
import { requireGroup } from "./require-group.ts";
import { resolveId } from "./resolve-id.ts";
import { ownCommand } from "../lib/process/own-command.ts";

export interface WorkOperationOptions {
  readonly store: {
    readonly sessions: Pick<Store["sessions"], "open">;
    readonly work: Pick<Store["work"], "add" | "drop" | "get" | "idsBeginningWith" | "list">;
  };
  readonly groups: { list(): readonly Group[] };
  /** There is new work. */
  readonly workAdded: () => void;
  readonly clock: Pick<Clock, "now">;
}

const shownChars = 400;

export async function listWork(
  { store }: { readonly store: { readonly work: Pick<Store["work"], "list"> } },
  filter: Parameters<Operations["listWork"]>[0],
): Promise<WorkView[]> {
  return (await store.work.list(filter)).map(view);
}

/** Gives a group's agent something to do, in the group's main session or in one beside it, which is made if it is new. */
export async function addWork(options: WorkOperationOptions, wanted: NewOperatorWork): Promise<WorkView> {
  const { store, clock } = options;
  const group = requireGroup(options.groups.list(), wanted.group);
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
      text: wanted.text,
    },
    now,
  );
  options.workAdded();
  return view(await found(options, id));
}

export async function dropWork(options: WorkOperationOptions, given: string): Promise<string> {
  const { work } = options.store;
  const id = await resolveId(given, {
    what: "work",
    list: ownCommand("work list"),
    beginningWith: (prefix, limit) => work.idsBeginningWith(prefix, limit),
  });
  if (await work.drop(id, "dropped by the operator")) return id;
  const { state } = await found(options, id);
  throw new AppError("conflict", `Work ${id} is ${state}; only work that is due can be dropped.`, {
    fix: ownCommand("work list"),
  });
}

async function found({ store }: WorkOperationOptions, id: string): Promise<Work> {
  const work = await store.work.get(id);
  if (!work) throw new AppError("not_found", `There is no work ${id}.`, { fix: ownCommand("work list") });
  return work;
}

function view({ text, ...work }: Work): WorkView {
  return { ...work, text: shorten(text, shownChars) };
}
