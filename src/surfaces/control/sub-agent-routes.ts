import * as z from "zod";

import { name, type Route, route } from "./route.ts";

/** What the operator asks about sub-agents. */
export const subAgentRoutes: readonly Route<never>[] = [
  route({
    method: "GET",
    path: "/agents",
    operation: "agents.list",
    parameters: z.strictObject({ group: name.optional(), all: z.stringbool().default(false) }),
    run: (host, filter) => host.listSubAgents(filter),
  }),
  route({
    method: "GET",
    path: "/agents/:id",
    operation: "agents.show",
    parameters: z.strictObject({ id: name }),
    run: (host, { id }) => host.showSubAgent(id),
  }),
  route({
    method: "DELETE",
    path: "/agents/:id",
    operation: "agents.cancel",
    parameters: z.strictObject({ id: name }),
    run: (host, { id }) => host.cancelSubAgent(id),
  }),
];
