import type { FastifyInstance } from "fastify";
import * as z from "zod";

import { type Actor, addressActor } from "../domain/actor.ts";
import type { Group } from "../domain/group.ts";
import { agentsOf, folderOf } from "../domain/session.ts";
import { AppError } from "../lib/app-error.ts";
import { refuseInput } from "./refuse-input.ts";
import { requireGroup } from "./require-group.ts";

/**
 * What groups remember, for programs: every object is as `crabpot memory … --json` prints it. `folder`: the name of the group, or of the
 * folder of another agent of it.
 */
export interface MemoryDesk {
  search(folder: string, query: string, limit: number): Promise<readonly object[]>;
  /** Newest first. */
  list(
    folder: string,
    filter: { readonly category?: string | undefined; readonly limit: number },
  ): Promise<readonly object[]>;
  show(folder: string, id: string): Promise<object | undefined>;
  /** Really. False where there is no such memory. */
  forget(folder: string, id: string, actor: Actor): Promise<boolean>;
}

export interface MemoryHttpOptions {
  readonly groups: () => readonly Pick<Group, "name" | "agent" | "agents">[];
  /** Undefined while the host is starting. */
  readonly memoryDesk: () => MemoryDesk | undefined;
}

const whose = z.strictObject({ agent: z.string().min(1).max(64).optional() });
const filter = whose.extend({
  query: z.string().min(1).max(2_000).optional(),
  category: z.string().min(1).max(32).optional(),
  limit: z.coerce.number().int().min(1).max(200).optional(),
});
const usual = { found: 10, listed: 100 };

type OfGroup = { Params: { group: string } };
type OfMemory = { Params: { group: string; id: string } };

/** Searches, lists, shows and forgets: whoever has the gateway's token does so as the operator does. */
export function addMemoryRoutes(routes: FastifyInstance, options: MemoryHttpOptions): void {
  routes.get<OfGroup>("/v1/memory/:group", async (request, reply) => {
    const parsed = filter.safeParse(request.query);
    if (!parsed.success) return refuseInput(reply, parsed.error);
    const { query, category, limit, agent } = parsed.data;
    if (query !== undefined && category !== undefined) {
      const message = "It goes with a list only; leave it out, or leave query out.";
      return reply.code(400).send({ error: { code: "bad_input", message, path: "category" } });
    }
    const { desk, folder } = find(options, request.params.group, agent);
    const memories =
      query === undefined
        ? await desk.list(folder, { category, limit: limit ?? usual.listed })
        : await desk.search(folder, query, limit ?? usual.found);
    return reply.send({ memories });
  });
  routes.get<OfMemory>("/v1/memory/:group/:id", async ({ params, query }, reply) => {
    const parsed = whose.safeParse(query);
    if (!parsed.success) return refuseInput(reply, parsed.error);
    const { desk, folder } = find(options, params.group, parsed.data.agent);
    const found = await desk.show(folder, params.id);
    if (!found) throw unknownMemory(params.group, params.id);
    return reply.send(found);
  });
  routes.delete<OfMemory>("/v1/memory/:group/:id", async ({ params, query, ip }, reply) => {
    const parsed = whose.safeParse(query);
    if (!parsed.success) return refuseInput(reply, parsed.error);
    const { desk, folder } = find(options, params.group, parsed.data.agent);
    if (!(await desk.forget(folder, params.id, addressActor(ip)))) throw unknownMemory(params.group, params.id);
    return reply.send({ forgotten: params.id });
  });
}

function find(
  { groups, memoryDesk }: MemoryHttpOptions,
  name: string,
  agent: string | undefined,
): { readonly desk: MemoryDesk; readonly folder: string } {
  const desk = memoryDesk();
  if (!desk) throw new AppError("intake_stopped", "The host is starting.");
  const group = requireGroup(groups(), name);
  if (agent === undefined) return { desk, folder: name };
  const agents = agentsOf(group);
  if (!agents.includes(agent))
    throw new AppError("not_found", `Group ${name} has no agent "${agent}"; it has ${agents.join(", ")}.`);
  return { desk, folder: folderOf(group, agent) };
}

function unknownMemory(group: string, id: string): AppError {
  return new AppError("not_found", `Group ${group} has no memory "${id}".`);
}
