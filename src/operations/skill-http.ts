import type { FastifyInstance } from "fastify";
import * as z from "zod";

import { refuseInput } from "./refuse-input.ts";

/** What the operator sees of skills: `group` = those that one group could have, otherwise all. */
export type ListSkills = (group: string | undefined) => Promise<readonly object[]>;

const filter = z.strictObject({ group: z.string().min(1).max(64).optional() });

/** Lists skills as `crabpot skills list` does. */
export function addSkillRoutes(routes: FastifyInstance, list: ListSkills): void {
  routes.get("/v1/skills", async (request, reply) => {
    const query = filter.safeParse(request.query);
    if (query.success) return reply.send({ skills: await list(query.data.group) });
    return refuseInput(reply, query.error);
  });
}
