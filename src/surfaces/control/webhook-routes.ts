import * as z from "zod";

import { name, nothing, type Route, route } from "./route.ts";

const bodyChars = 256 * 1024;

/** Addresses at which other programs give agents something to do. */
export const webhookRoutes: readonly Route<never>[] = [
  route({
    method: "GET",
    path: "/hooks",
    operation: "hooks.list",
    parameters: nothing,
    run: (host) => host.listWebhooks(),
  }),
  route({
    method: "POST",
    path: "/hooks/:name/test",
    operation: "hooks.test",
    parameters: z.strictObject({ name, text: z.string().max(bodyChars) }),
    run: (host, { name: hook, text }) => host.testWebhook(hook, text),
  }),
];
