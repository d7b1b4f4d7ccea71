import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { addressActor } from "../../domain/people/actor.ts";
import type { Publish } from "../../domain/events/event.ts";
import { AppError } from "../../lib/app-error.ts";
import type { AnyOperation } from "../../operations/definition/define-operation.ts";
import { invoke } from "../../operations/invoke.ts";
import { loadOperations, type OperationNeeds } from "../operations.ts";
import { errorBody } from "./errors.ts";
import { restRouteOf } from "./rest-route.ts";

export interface RestOptions {
  /** Undefined while the host is starting. */
  readonly needs: () => OperationNeeds | undefined;
  readonly publish: Publish<"operation.requested" | "operation.ended">;
  readonly version: string;
}

/** The gateway's token is the operator's. */
const scopes = new Set(["read", "admin"] as const);

/**
 * Adds `/v1/…` for every operation with a REST path, and their OpenAPI document at `/openapi.json`. Definitions are
 * loaded with the first request: most hosts have none.
 */
export function addRestRoutes(routes: FastifyInstance, options: RestOptions): void {
  routes.get("/openapi.json", async (_request, reply) => {
    const { describeOperations } = await import("./openapi.ts");
    return reply.send(await describeOperations(options.version));
  });
  for (const method of ["GET", "POST", "PUT", "DELETE"] as const) {
    routes.route({ method, url: "/v1/*", handler: (request, reply) => answer(options, request, reply) });
  }
}

async function answer({ needs, publish }: RestOptions, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const path = request.url.split("?", 1)[0]?.slice("/v1".length) ?? "";
  const found = matchRest(await loadOperations(), request.method, path);
  if (!found) return reply.code(404).send(errorBody("not_found", "Not found."));
  const started = needs();
  if (!started) throw new AppError("intake_stopped", "The host is starting.");
  const ended = new AbortController();
  reply.raw.once("close", () => ended.abort());
  const given = { ...(request.query as object), ...(request.body as object | undefined), ...found.parameters };
  const caller = { actor: addressActor(request.ip), scopes, publish, signal: ended.signal };
  const result = await invoke(found.operation, started, given, caller);
  const { listAs } = found.operation;
  const body = JSON.stringify(listAs === undefined ? result : { [listAs]: result });
  return reply.code(found.status).type("application/json; charset=utf-8").send(body);
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
