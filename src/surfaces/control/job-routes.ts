import * as z from "zod";

import { name, type Route, route } from "./route.ts";

/** Background jobs of agents. */
export const jobRoutes: readonly Route<never>[] = [
  route({
    method: "GET",
    path: "/jobs",
    operation: "jobs.list",
    parameters: z.strictObject({
      group: name.optional(),
      all: z.literal("true").optional(),
      limit: z.coerce.number().int().min(1).max(1000).default(20),
    }),
    run: (host, { group, all, limit }) => host.listJobs({ group, all: all === "true", limit }),
  }),
  route({
    method: "POST",
    path: "/jobs/:id/stop",
    operation: "jobs.stop",
    parameters: z.strictObject({ id: name, session: name.optional() }),
    run: (host, { id, session }) => host.stopJob(id, session),
  }),
];
