import type { FastifyInstance, FastifyReply } from "fastify";
import * as z from "zod";

import { type Actor, addressActor } from "../domain/actor.ts";
import { type Group, unknownGroup } from "../domain/group.ts";
import { AppError } from "../lib/app-error.ts";

/** What groups remember, for programs: every object is as `crabpot memory … --json` prints it. */
export interface MemoryDesk {
  search(group: string, query: string, limit: number): Promise<readonly object[]>;
  /** Newest first. */
  list(
    group: string,
    filter: { readonly category?: string | undefined; readonly limit: number },
  ): Promise<readonly object[]>;
  show(group: string, id: string): Promise<object | undefined>;
  /** Really. False where there is no such memory. */
  forget(group: string, id: string, actor: Actor): Promise<boolean>;
}

export interface MemoryHttpOptions {
  readonly groups: () => readonly Pick<Group, "name">[];
  /** Undefined while the host is starting. */
  readonly memoryDesk: () => MemoryDesk | undefined;
}

const filter = z.strictObject({
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
    if (!parsed.success) return refuse(reply, parsed.error);
    const { query, category, limit } = parsed.data;
    if (query !== undefined && category !== undefined) {
      const message = "It goes with a list only; leave it out, or leave query out.";
      return reply.code(400).send({ error: { code: "bad_input", message, path: "category" } });
    }
    const { desk, group } = find(options, request.params.group);
    const memories =
      query === undefined
        ? await desk.list(group, { category, limit: limit ?? usual.listed })
        : await desk.search(group, query, limit ?? usual.found);
    return reply.send({ memories });
  });
  routes.get<OfMemory>("/v1/memory/:group/:id", async ({ params }, reply) => {
    const { desk, group } = find(options, params.group);
    const found = await desk.show(group, params.id);
    if (!found) throw unknownMemory(group, params.id);
    return reply.send(found);
  });
  routes.delete<OfMemory>("/v1/memory/:group/:id", async ({ params, ip }, reply) => {
    const { desk, group } = find(options, params.group);
    if (!(await desk.forget(group, params.id, addressActor(ip)))) throw unknownMemory(group, params.id);
    return reply.send({ forgotten: params.id });
  });
}

function find(
  { groups, memoryDesk }: MemoryHttpOptions,
  name: string,
): { readonly desk: MemoryDesk; readonly group: string } {
  const desk = memoryDesk();
  if (!desk) throw new AppError("intake_stopped", "The host is starting.");
  const all = groups().map((group) => group.name);
  if (!all.includes(name)) throw unknownGroup(name, all);
  return { desk, group: name };
}

function unknownMemory(group: string, id: string): AppError {
  return new AppError("not_found", `Group ${group} has no memory "${id}".`);
}

function refuse(reply: FastifyReply, { issues: [issue] }: z.ZodError): FastifyReply {
  const message = `${issue?.message ?? "It cannot be read"}.`;
  return reply.code(400).send({ error: { code: "bad_input", message, path: issue?.path.join(".") ?? "" } });
}
