import * as z from "zod";

import { name, type Route, route } from "./route.ts";

/** What stands in the prompts of conversations. */
export const contextRoutes: readonly Route<never>[] = [
  route({
    method: "GET",
    path: "/context/:group",
    operation: "context.show",
    parameters: z.strictObject({ group: name, session: name.optional(), raw: z.literal("true").optional() }),
    run: (host, { raw, ...query }) => host.showContext({ ...query, raw: raw !== undefined }),
  }),
];
