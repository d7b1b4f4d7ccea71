import type { FastifyInstance } from "fastify";
import * as z from "zod";

import { AppError } from "../lib/app-error.ts";
import type { ContextQuery } from "./contexts.ts";
import type { ContextView } from "../domain/context-view.ts";
import { refuseInput } from "./refuse-input.ts";

const filter = z.strictObject({
  session: z.string().min(1).max(256).optional(),
  raw: z.enum(["true", "false"]).optional(),
});

/** Shows what stands in a conversation's prompts, as `crabpot context show --json` does. */
export function addContextRoutes(routes: FastifyInstance, show: (query: ContextQuery) => Promise<ContextView>): void {
  routes.get<{ Params: { group: string } }>("/v1/context/:group", async ({ params, query }, reply) => {
    const parsed = filter.safeParse(query);
    if (!parsed.success) return refuseInput(reply, parsed.error);
    const { session, raw } = parsed.data;
    if (params.group.length > 256) throw new AppError("bad_input", "The name of the group is too long.");
    return reply.send(await show({ group: params.group, session, raw: raw === "true" }));
  });
}
