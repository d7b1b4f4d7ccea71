import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { addressActor } from "../../domain/people/actor.ts";
import type { EventData, Publish } from "../../domain/events/event.ts";
import { AppError } from "../../lib/app-error.ts";
import type { AnyOperation, ServerSentEvent, StreamOperation } from "../../operations/definition/define-operation.ts";
import { InputError, invoke } from "../../operations/invoke.ts";
import { loadOperations, type OperationNeeds } from "../operations.ts";
import { errorBody } from "./errors.ts";
import { restRouteOf } from "./rest-route.ts";
import { type EventStreamOptions, EventStreams } from "./watching/event-streams.ts";

export interface RestOptions {
  /** Undefined while the host is starting. */
  readonly needs: () => OperationNeeds | undefined;
  readonly publish: Publish<"operation.requested" | "operation.ended" | "watch.opened" | "watch.ended">;
  readonly version: string;
  readonly streams: Omit<EventStreamOptions, "publish">;
}

/** The gateway's token is the operator's. */
const scopes = new Set(["read", "admin"] as const);

/**
 * Adds `/v1/…` for every operation with a REST path, and their OpenAPI document at `/openapi.json`. Definitions are
 * loaded with the first request: most hosts have none.
 */
export function addRestRoutes(routes: FastifyInstance, options: RestOptions): void {
  const { publish, streams } = options;
  const opened = new EventStreams(routes, { ...streams, publish });
  routes.get("/openapi.json", async (_request, reply) => {
    const { describeOperations } = await import("./openapi.ts");
    return reply.send(await describeOperations(options.version));
  });
  for (const method of ["GET", "POST", "PUT", "DELETE"] as const) {
    routes.route({ method, url: "/v1/*", handler: (request, reply) => answer({ ...options, opened }, request, reply) });
  }
}

async function answer(
  { needs, publish, opened }: RestOptions & { readonly opened: EventStreams },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const path = request.url.split("?", 1)[0]?.slice("/v1".length) ?? "";
  const found = matchRest(await loadOperations(), request.method, path);
  if (!found) return reply.code(404).send(errorBody("not_found", "Not found."));
  const started = needs();
  if (!started) throw new AppError("intake_stopped", "The host is starting.");
  const { operation } = found;
  const { listAs, restSets = {} } = operation;
  const typed = { ...(request.query as object), ...(request.body as object | undefined), ...found.parameters };
  const unknown = Object.keys(typed).find((key) => key in restSets);
  if (unknown !== undefined) throw new AppError("bad_input", `Unrecognized key: "${unknown}".`);
  const given = { ...typed, ...restSets };
  const caller = { actor: addressActor(request.ip), scopes, publish };
  if (operation.follow) {
    const asked = withLastId(request, given);
    return reply.send(
      await opened.open(request, reply, {
        asked: recordOf(operation, asked),
        follow: async (signal) => sent(operation, await invoke(operation, started, asked, { ...caller, signal })),
      }),
    );
  }
  const ended = new AbortController();
  reply.raw.once("close", () => ended.abort());
  const result = await invoke(operation, started, given, { ...caller, signal: ended.signal });
  const body = JSON.stringify(listAs === undefined ? result : { [listAs]: result });
  return reply.code(found.status).type("application/json; charset=utf-8").send(body);
}

/** A browser that comes back says which piece it saw last. */
function withLastId({ headers }: FastifyRequest, given: object): object {
  const last = headers["last-event-id"];
  return { ...given, ...(last !== undefined && last !== "" && { after: last }) };
}

/** Parameters of a stream for the record. */
function recordOf({ input, record }: StreamOperation, given: object): EventData["watch.opened"] {
  const parsed = input.safeParse(given);
  if (!parsed.success) throw new InputError(parsed.error);
  return (record?.(parsed.data) ?? {}) as EventData["watch.opened"];
}

async function* sent({ sent: toEvent }: StreamOperation, pieces: unknown): AsyncGenerator<ServerSentEvent> {
  for await (const piece of pieces as AsyncIterable<object>) yield toEvent?.(piece) ?? { data: piece };
}

/** Finds the operation at a path below `/v1`, with the parameters in it. */
function matchRest(
  operations: readonly AnyOperation[],
  method: string,
  path: string,
):
  | {
      readonly operation: AnyOperation;
      readonly parameters: Readonly<Record<string, string>>;
      readonly status: number;
    }
  | undefined {
  for (const operation of operations) {
    const route = restRouteOf(operation);
    const parameters = route?.method === method ? matchPath(route.path, path) : undefined;
    if (route && parameters) return { operation, parameters, status: route.status };
  }
  return undefined;
}

function matchPath(template: string, path: string): Readonly<Record<string, string>> | undefined {
  const [expected, given] = [template.split("/"), path.split("/")];
  if (expected.length !== given.length) return undefined;
  const parameters: [string, string][] = [];
  for (const [index, part] of expected.entries()) {
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    const value = decode(given[index] ?? "");
    if (name === undefined ? value !== part : value === undefined || value === "") return undefined;
    if (name !== undefined && value !== undefined) parameters.push([name, value]);
  }
  return Object.fromEntries(parameters);
}

function decode(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
