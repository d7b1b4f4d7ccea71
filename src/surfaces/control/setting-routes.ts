import * as z from "zod";

import { name, type Route, route } from "./route.ts";

const settingPath = z
  .array(z.union([z.string().max(1024), z.number().int().min(0)]))
  .min(1)
  .max(32);
/** Without a value the setting is removed. */
const settingEdits = z
  .array(z.strictObject({ path: settingPath, value: z.unknown() }).partial({ value: true }))
  .min(1)
  .max(100)
  .transform((edits) => edits.map(({ path, value }) => ({ path, value })));
/** Settings, read and changed while the host runs. */
export const settingRoutes: readonly Route<never>[] = [
  route({
    method: "GET",
    path: "/config/value",
    operation: "config.get",
    parameters: z.strictObject({ path: z.string().min(1).max(1024) }),
    run: (host, { path }) => host.getSetting(path),
  }),
  route({
    method: "POST",
    path: "/config/edit",
    operation: "config.edit",
    parameters: z.strictObject({ edits: settingEdits }),
    record: ({ edits }) => ({ paths: pathsOf(edits) }),
    run: (host, { edits }) => host.editConfig(edits),
  }),
  route({
    method: "GET",
    path: "/config/history",
    operation: "config.history",
    parameters: z.strictObject({
      path: name.optional(),
      limit: z.coerce.number().int().min(1).max(10_000).default(50),
    }),
    run: (host, filter) => host.configHistory(filter),
  }),
  route({
    method: "GET",
    path: "/groups/:name/settings",
    operation: "groups.show",
    parameters: z.strictObject({ name }),
    run: (host, { name: group }) => host.showGroup(group),
  }),
  route({
    method: "POST",
    path: "/groups/:name/settings",
    operation: "groups.set",
    parameters: z.strictObject({ name, edits: settingEdits }),
    record: ({ name: group, edits }) => ({ name: group, paths: pathsOf(edits) }),
    run: (host, { name: group, edits }) => host.setGroup(group, edits),
  }),
];

function pathsOf(edits: readonly { readonly path: readonly (string | number)[] }[]): string {
  return edits.map(({ path }) => path.join(".")).join(" ");
}
