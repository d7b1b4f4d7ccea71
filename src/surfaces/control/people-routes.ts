import * as z from "zod";

import { name, nothing, type Route, route } from "./route.ts";

/** Who is let in, who may do what, and what people decide. */
export const peopleRoutes: readonly Route<never>[] = [
  route({
    method: "GET",
    path: "/groups/:name/origins",
    operation: "policy.origins",
    parameters: z.strictObject({ name }),
    run: (host, parameters) => host.listFolderOrigins(parameters.name),
  }),
  route({
    method: "DELETE",
    path: "/groups/:name/origins",
    operation: "policy.clear",
    parameters: z.strictObject({ name, origin: name.optional() }),
    run: async (host, parameters) => ({
      group: parameters.name,
      cleared: await host.clearFolderOrigins(parameters.name, parameters.origin),
    }),
  }),
  route({
    method: "GET",
    path: "/people",
    operation: "people.list",
    parameters: z.strictObject({ group: name.optional() }),
    run: (host, { group }) => host.listPeople(group),
  }),
  route({
    method: "GET",
    path: "/people/:id/words",
    operation: "people.look",
    parameters: z.strictObject({ id: name }),
    // Who it is stands as a digest in what is recorded of it.
    record: () => ({}),
    run: (host, { id }) => host.lookAtPerson(id),
  }),
  route({
    method: "DELETE",
    path: "/people/:id/words",
    operation: "people.forget",
    parameters: z.strictObject({ id: name }),
    record: () => ({}),
    run: (host, { id }) => host.erasePerson(id),
  }),
  route({ method: "GET", path: "/chats", operation: "chats", parameters: nothing, run: (host) => host.listChats() }),
  route({
    method: "POST",
    path: "/chats/requests/:code/approve",
    operation: "chats.approve",
    parameters: z.strictObject({ code: name, name: name.optional() }),
    run: async (host, { code, name: wanted }) => {
      const group = await host.approveRequest(code, wanted);
      return { approved: code, group: group.name, channel: group.channel, chat: group.chat };
    },
  }),
  route({
    method: "POST",
    path: "/chats/requests/:code/deny",
    operation: "chats.deny",
    parameters: z.strictObject({ code: name }),
    run: async (host, { code }) => {
      await host.denyRequest(code);
      return { denied: code };
    },
  }),
  route({
    method: "DELETE",
    path: "/chats/requests/:code",
    operation: "chats.forget",
    parameters: z.strictObject({ code: name }),
    run: async (host, { code }) => {
      await host.forgetRequest(code);
      return { forgotten: code };
    },
  }),
  route({
    method: "GET",
    path: "/pairings",
    operation: "pairing.list",
    parameters: nothing,
    run: (host) => host.listPairings(),
  }),
  route({
    method: "POST",
    path: "/pairings/:code/approve",
    operation: "pairing.approve",
    parameters: z.strictObject({ code: name, name: name.optional() }),
    run: async (host, { code, name: wanted }) => {
      const group = await host.approvePairing(code, wanted);
      return { approved: code, group: group.name, channel: group.channel, chat: group.chat };
    },
  }),
  route({
    method: "GET",
    path: "/approvals",
    operation: "approvals.list",
    parameters: z.strictObject({ group: name.optional(), all: z.literal("true").optional() }),
    run: (host, { group, all }) => host.listApprovals({ group, all: all === "true" }),
  }),
  route({
    method: "GET",
    path: "/approvals/:code",
    operation: "approvals.show",
    parameters: z.strictObject({ code: name }),
    run: (host, { code }) => host.showApproval(code),
  }),
  route({
    method: "POST",
    path: "/approvals/:code",
    operation: "approvals.answer",
    parameters: z.strictObject({
      code: name,
      decision: z.enum(["allow", "deny"]),
      scope: z.enum(["once", "session", "day", "always"]).optional(),
      reason: z.string().max(400).optional(),
      values: z.string().max(16_000).optional(),
    }),
    run: (host, { code, decision, scope, reason, values }) =>
      host.answerApproval(code, { allow: decision === "allow", scope, reason, values }),
  }),
  route({
    method: "DELETE",
    path: "/approvals/:id",
    operation: "approvals.revoke",
    parameters: z.strictObject({ id: name }),
    run: (host, { id }) => host.revokeApproval(id),
  }),
];
