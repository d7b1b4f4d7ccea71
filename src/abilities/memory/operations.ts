import * as z from "zod";

import type { Group } from "../../domain/chats/group.ts";
import { agentsOf, folderOf } from "../../domain/turns/session.ts";
import { AppError } from "../../lib/app-error.ts";
import { defineOperation } from "../../operations/definition/define-operation.ts";
import { requireGroup } from "../../operations/lookup/require-group.ts";
import { list, name } from "../../operations/definition/schemas.ts";
import type { MemoryService } from "./memory-service.ts";
import type { Memory } from "../../processes/memory-schemas.ts";

/** The parts that know memories. */
interface MemoryNeeds {
  readonly groups: { list(): readonly Pick<Group, "name" | "agent" | "agents">[] };
  readonly memory: Pick<MemoryService, "search" | "list" | "get" | "forget">;
}

const shownMemory: z.ZodType<object> = z.looseObject({});
const whose = z.strictObject({ group: name, agent: z.string().min(1).max(64).optional() });
const usual = { found: 10, listed: 100 };

export const listMemories = defineOperation<MemoryNeeds>()({
  name: "memory.list",
  summary: "search memories of a group, or list them, newest first",
  input: whose
    .extend({
      query: z.string().min(1).max(2_000).optional(),
      category: z.string().min(1).max(32).optional(),
      limit: z.coerce.number().int().min(1).max(200).optional(),
    })
    .refine(({ query, category }) => query === undefined || category === undefined, {
      message: "It goes with a list only; leave it out, or leave query out",
      path: ["category"],
    }),
  output: list(shownMemory),
  may: { scope: "read" },
  effect: "none",
  rest: "GET /memory/{group}",
  listAs: "memories",
  run: async (needs, { group, agent, query, category, limit }) => {
    const folder = findFolder(needs, group, agent);
    if (query === undefined)
      return (await needs.memory.list(folder, { category, limit: limit ?? usual.listed })).map(toListed);
    const found = await needs.memory.search(folder, query, limit ?? usual.found);
    return found.map(({ memory: one, score }) => ({ ...toListed(one), score }));
  },
});

export const showMemory = defineOperation<MemoryNeeds>()({
  name: "memory.show",
  summary: "show a memory with its sources",
  input: whose.extend({ id: name }),
  output: shownMemory,
  may: { scope: "read" },
  effect: "none",
  rest: "GET /memory/{group}/{id}",
  run: async (needs, { group, agent, id }) => {
    const found = await needs.memory.get(findFolder(needs, group, agent), id);
    if (found) return toExported(found);
    throw unknownMemory(group, id);
  },
});

export const forgetMemory = defineOperation<MemoryNeeds>()({
  name: "memory.forget",
  summary: "forget a memory for good",
  input: whose.extend({ id: name }),
  output: z.strictObject({ forgotten: z.string() }),
  may: { scope: "admin" },
  effect: "destroy",
  rest: "DELETE /memory/{group}/{id}",
  run: async (needs, { group, agent, id }, { actor }) => {
    const isForgotten = await needs.memory.forget(findFolder(needs, group, agent), id, { actor, why: "gateway" });
    if (isForgotten) return { forgotten: id };
    throw unknownMemory(group, id);
  },
});

function findFolder({ groups }: MemoryNeeds, wanted: string, agent: string | undefined): string {
  const group = requireGroup(groups.list(), wanted);
  if (agent === undefined) return wanted;
  const agents = agentsOf(group);
  if (agents.includes(agent)) return folderOf(group, agent);
  throw new AppError("not_found", `Group ${wanted} has no agent "${agent}"; it has ${agents.join(", ")}.`);
}

function unknownMemory(group: string, id: string): AppError {
  return new AppError("not_found", `Group ${group} has no memory "${id}".`);
}

/** Operations on memories of groups. */
export const memoryOperations = [listMemories, showMemory, forgetMemory] as const;

/** A memory as programs get it in a list. */
export function toListed({ id, category, text, time: at, sender, origin, supersededBy }: Memory): object {
  const shown = { id, category, text, time: new Date(at).toISOString(), sender, origin };
  return supersededBy === undefined ? shown : { ...shown, supersededBy };
}

/** All of it, as programs get a single one, and as it is exported and imported. */
export function toExported(memory: Memory): object {
  const { sources, photo } = memory;
  return { ...toListed(memory), sources, ...(photo !== undefined && { photo }) };
}
