import * as z from "zod";

import { name, nothing, type Route, route } from "./route.ts";

/** Images with packages of groups. */
export const imageRoutes: readonly Route<never>[] = [
  route({
    method: "GET",
    path: "/images",
    operation: "images.list",
    parameters: nothing,
    run: (host) => host.listImages(),
  }),
  route({
    method: "POST",
    path: "/images/build",
    operation: "images.build",
    parameters: z.strictObject({ group: name.optional() }),
    run: (host, { group }) => host.buildImages(group),
  }),
  route({
    method: "POST",
    path: "/images/prune",
    operation: "images.prune",
    parameters: nothing,
    run: (host) => host.pruneImages(),
  }),
];
