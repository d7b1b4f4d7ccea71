import { Readable } from "node:stream";

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import * as z from "zod";

import { AppError, toError } from "../../lib/app-error.ts";
import type { Publish } from "../../domain/events/event.ts";
import { describe, sayWhatIsWrong } from "./faults.ts";
import { contextRoutes } from "./context-routes.ts";
import { imageRoutes } from "./image-routes.ts";
import { mcpRoutes } from "./mcp-routes.ts";
import { modelRoutes } from "./model-routes.ts";
import { jobRoutes } from "./job-routes.ts";
import { asDeltas, asLines, firstOf, together } from "./lines.ts";
import { peopleRoutes } from "./people-routes.ts";
import type { Operations } from "../../operations/operations.ts";
import { name, nothing, type Recordable, type Route, route } from "./route.ts";
import { taskRoutes } from "./task-routes.ts";
import { subAgentRoutes } from "./sub-agent-routes.ts";
import { settingRoutes } from "./setting-routes.ts";
import { webhookRoutes } from "./webhook-routes.ts";

export interface RouteOptions {
  readonly operations: Operations;
  /** Tells of each request before it is done, and for changes once more how it ended. */
  readonly publish: Publish<"operation.requested" | "operation.ended">;
  /** Told of faults that are our own, not the caller's. */
  readonly onFault: (error: Error) => void;
}

const turnStates = z.enum(["running", "done", "failed", "cancelled"]);
const outboxStates = z.enum(["queued", "sending", "accepted", "delivered", "uncertain", "dead"]);
/** The last moment that a date can stand for. */
const maxDateMs = 8.64e15;
/** Outputs are stored up to 30,000 characters; this is more than any text has. */
const wholeText = 1_000_000;

const routes: readonly Route<never>[] = [
  ...peopleRoutes,
  ...settingRoutes,
  ...webhookRoutes,
  ...taskRoutes,
  ...jobRoutes,
  ...contextRoutes,
  ...imageRoutes,
  ...mcpRoutes,
  ...modelRoutes,
  ...subAgentRoutes,
  route({ method: "GET", path: "/status", operation: "status", parameters: nothing, run: (host) => host.status() }),
  route({
    method: "POST",
    path: "/config/apply",
    operation: "config.apply",
    parameters: nothing,
    run: (host) => host.applyConfig(),
  }),
  route({
    method: "GET",
    path: "/config/diff",
    operation: "config.diff",
    parameters: nothing,
    run: (host) => host.diffConfig(),
  }),
  route({
    method: "POST",
    path: "/stop",
    operation: "stop",
    parameters: nothing,
    run: (host, _nothing, signal) => host.stop(signal),
  }),
  route({
    method: "GET",
    path: "/groups",
    operation: "groups.list",
    parameters: nothing,
    run: (host) => host.listGroups(),
  }),
  route({
    method: "POST",
    path: "/groups",
    operation: "groups.add",
    parameters: z.strictObject({
      name,
      channel: name,
      chat: name,
      trigger: z.enum(["mention", "always"]).optional(),
      main: z.boolean().optional(),
      model: name.optional(),
      adopt: z.boolean().optional(),
    }),
    run: (host, group) => host.addGroup(group),
  }),
  route({
    method: "DELETE",
    path: "/groups/:name",
    operation: "groups.remove",
    parameters: z.strictObject({ name }),
    run: async (host, parameters) => {
      await host.removeGroup(parameters.name);
      return { removed: parameters.name };
    },
  }),
  route({
    method: "GET",
    path: "/sessions",
    operation: "sessions.list",
    parameters: nothing,
    run: (host) => host.listSessions(),
  }),
  route({
    method: "POST",
    path: "/sessions/stop",
    operation: "sessions.stop",
    parameters: z.strictObject({ target: name }),
    run: async (host, { target }) => ({ stopped: await host.stopSession(target) }),
  }),
  route({
    method: "GET",
    path: "/turns",
    operation: "turns.list",
    parameters: z.strictObject({
      group: name.optional(),
      state: turnStates.optional(),
      limit: z.coerce.number().int().min(1).max(1000).default(20),
    }),
    run: (host, filter) => host.listTurns(filter),
  }),
  route({
    method: "GET",
    path: "/turns/:id",
    operation: "turns.show",
    parameters: z.strictObject({ id: name, maxChars: z.coerce.number().int().min(1).max(wholeText).default(400) }),
    run: (host, { id, maxChars }) => host.showTurn(id, maxChars),
  }),
  route({
    method: "POST",
    path: "/turns/:id/retry",
    operation: "turns.retry",
    parameters: z.strictObject({ id: name }),
    run: (host, { id }) => host.retryTurn(id),
  }),
  route({
    method: "GET",
    path: "/outbox",
    operation: "outbox.list",
    parameters: z.strictObject({
      state: outboxStates.optional(),
      group: name.optional(),
      limit: z.coerce.number().int().min(1).max(1000).default(20),
    }),
    run: (host, filter) => host.listOutbox(filter),
  }),
  route({
    method: "POST",
    path: "/send",
    operation: "send",
    parameters: z.strictObject({
      group: name,
      text: z.string().max(16_000).regex(/\S/, "there is nothing to say in it"),
    }),
    run: (host, { group, text }) => host.send(group, text),
  }),
  route({
    method: "POST",
    path: "/outbox/retry",
    operation: "outbox.retry",
    parameters: z.union([
      z.strictObject({ seq: z.number().int().min(1).max(Number.MAX_SAFE_INTEGER) }),
      z.strictObject({ allDead: z.literal(true) }),
    ]),
    run: async (host, what) => ({ retried: await host.retryOutbox(what) }),
  }),
  route({
    method: "GET",
    path: "/usage",
    operation: "usage",
    parameters: z.strictObject({
      by: z.enum(["group", "member", "model", "day", "agent"]).default("group"),
      since: z.coerce.number().int().min(0).max(maxDateMs),
      group: name.optional(),
    }),
    run: (host, { by, since, group }) => host.usage(by, since, group),
  }),
  route({
    method: "GET",
    path: "/work",
    operation: "work.list",
    parameters: z.strictObject({
      state: z.enum(["due", "taken", "settled", "dropped"]).optional(),
      group: name.optional(),
      limit: z.coerce.number().int().min(1).max(1000).default(20),
    }),
    run: (host, filter) => host.listWork(filter),
  }),
  route({
    method: "POST",
    path: "/work",
    operation: "work.add",
    parameters: z.strictObject({
      group: name,
      text: z.string().min(1).max(16_000),
      session: z
        .string()
        .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, "at most 64 lower case letters, digits, - and _")
        .optional(),
      silent: z.boolean().default(false),
    }),
    run: (host, work) => host.addWork(work),
  }),
  route({
    method: "DELETE",
    path: "/work/:id",
    operation: "work.drop",
    parameters: z.strictObject({ id: name }),
    run: async (host, { id }) => ({ dropped: await host.dropWork(id) }),
  }),
  route({
    method: "GET",
    path: "/events",
    operation: "events.tail",
    parameters: z
      .strictObject({
        after: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
        last: z.coerce.number().int().min(0).max(1000).default(20),
        type: name.optional(),
        group: name.optional(),
        follow: z.literal("true").optional(),
        deltas: z.literal("true").optional(),
      })
      .refine(({ follow, deltas }) => follow || !deltas, "deltas: goes with follow only"),
    run: async (host, { follow, deltas, ...query }, signal) => {
      const events = host.tailEvents(query, follow && signal);
      return asLines(deltas ? together([events, asDeltas(host.watchDeltas(query.group, signal))]) : events);
    },
  }),
  route({
    method: "GET",
    path: "/channels",
    operation: "channels.list",
    parameters: nothing,
    run: (host) => host.listChannels(),
  }),
  route({
    method: "POST",
    path: "/channels/:name/login",
    operation: "channels.login",
    parameters: z.strictObject({
      name,
      phoneNumber: z
        .string()
        .regex(/^\d{6,15}$/, "digits only")
        .optional(),
    }),
    run: (host, parameters, signal) => firstOf(host.login(parameters.name, signal, parameters)),
  }),
];

/** Adds everything below `/v1/control`: answers are JSON, those of a login are one JSON object per line as they come. */
export function addControlRoutes(server: FastifyInstance, options: RouteOptions): void {
  for (const definition of routes) {
    server.route({
      method: definition.method,
      url: `/v1/control${definition.path}`,
      handler: (request, reply) => answer(options, definition, request, reply),
    });
  }
  server.setNotFoundHandler((request) => {
    throw new AppError(
      "not_found",
      `The host does not know ${request.method} ${request.url}; is it a different version?`,
    );
  });
  server.setErrorHandler((thrown, _request, reply) => {
    const error = toError(thrown);
    const { status, code, message } = describe(error);
    if (status >= 500) options.onFault(error);
    const fix = error instanceof AppError ? error.fix : undefined;
    return reply.status(status).send({ error: { code, message, ...(fix === undefined ? {} : { fix }) } });
  });
}

async function answer(
  options: RouteOptions,
  definition: Route<never>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const parsed = definition.parameters.safeParse(collect(request));
  if (!parsed.success) throw new AppError("bad_input", `${sayWhatIsWrong(parsed.error)}.`);
  const { operation } = definition;
  const parameters = definition.record?.(parsed.data) ?? recordable(parsed.data);
  const ended = new AbortController();
  reply.raw.once("close", () => ended.abort());
  const told = (outcome: string) => ({ actor: "operator", data: { operation, parameters, outcome } }) as const;
  await options.publish({ type: "operation.requested", ...told("asked") });
  const changes = definition.method !== "GET";
  try {
    const result = await definition.run(options.operations, parsed.data, ended.signal);
    if (changes) await options.publish({ type: "operation.ended", ...told("done") });
    if (!(result instanceof Readable)) return await reply.send(result);
    return await reply.type("application/x-ndjson").send(result);
  } catch (error) {
    const outcome = error instanceof AppError ? error.code : "failed";
    if (changes) await options.publish({ type: "operation.ended", ...told(outcome) });
    throw error;
  }
}

function collect(request: FastifyRequest): Record<string, unknown> {
  return { ...(request.query as object), ...(request.body as object | undefined), ...(request.params as object) };
}

/** What is said to an agent or in a chat stays in the store. */
function recordable(parameters: object): Recordable {
  const given = Object.entries(parameters).filter(
    ([key, value]) => value !== undefined && key !== "text" && key !== "reason",
  );
  return Object.fromEntries(given) as Recordable;
}
