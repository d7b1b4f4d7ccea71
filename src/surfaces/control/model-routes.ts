import * as z from "zod";

import { name, nothing, type Route, route } from "./route.ts";

/** What was learned of models. */
export const modelRoutes: readonly Route<never>[] = [
  route({
    method: "GET",
    path: "/models",
    operation: "models.list",
    parameters: nothing,
    run: (host) => host.listModels(),
  }),
  route({
    method: "POST",
    path: "/models/forget",
    operation: "models.forget",
    parameters: z.strictObject({ name: name.optional() }),
    run: async (host, { name: model }) => ({ forgotten: await host.forgetModels(model) }),
  }),
];
