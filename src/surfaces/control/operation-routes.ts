import { Readable } from "node:stream";

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import type { Publish } from "../../domain/events/event.ts";
import { AppError, toError } from "../../lib/app-error.ts";
import type { AnyOperation } from "../../operations/definition/define-operation.ts";
import { invoke } from "../../operations/invoke.ts";
import { loadOperations, type OperationNeeds } from "../operations.ts";
import { toControlFault } from "./faults.ts";

export interface OperationRouteOptions {
  readonly needs: OperationNeeds;
  readonly publish: Publish<"operation.requested" | "operation.ended">;
  /** Told about faults that are our own, not the caller's. */
  readonly onFault: (error: Error) => void;
}

/** The operator may do everything. */
const scopes = new Set(["read", "admin"] as const);

/**
 * Adds `POST /v1/control/<operation>`: parameters are a JSON object, and so is the answer. A stream is one JSON value a
 * line; where it breaks, the last line is `{"error": …}`.
 */
export function addOperationRoutes(server: FastifyInstance, options: OperationRouteOptions): void {
  server.post<{ Params: { operation: string } }>("/v1/control/:operation", (request, reply) =>
    answer(options, request, reply),
  );
  server.setNotFoundHandler((request) => {
    throw unknown(`${request.method} ${request.url}`);
  });
  server.setErrorHandler((thrown, _request, reply) => {
    const error = toError(thrown);
    const { status, body } = toControlFault(error);
    if (status >= 500) options.onFault(error);
    return reply.status(status).send(body);
  });
}

async function answer(
  { needs, publish, onFault }: OperationRouteOptions,
  request: FastifyRequest<{ Params: { operation: string } }>,
  reply: FastifyReply,
): Promise<unknown> {
  const operations: readonly AnyOperation[] = await loadOperations();
  const operation = operations.find(({ name }) => name === request.params.operation);
  if (!operation) throw unknown(request.params.operation);
  const ended = new AbortController();
  reply.raw.once("close", () => ended.abort());
  const caller = { actor: "operator", scopes, publish, signal: ended.signal } as const;
  const result = await invoke(operation, needs, request.body ?? {}, caller);
  if (operation.follow === undefined) return reply.type("application/json").send(JSON.stringify(result));
  return reply.type("application/x-ndjson").send(asLines(result as AsyncIterable<unknown>, onFault));
}

/** Streams values as lines, keeping only a few ahead of the reader. */
function asLines(values: AsyncIterable<unknown>, onFault: (error: Error) => void): Readable {
  async function* lines(): AsyncGenerator<string> {
    try {
      for await (const value of values) yield `${JSON.stringify(value)}\n`;
    } catch (thrown) {
      const { status, body } = toControlFault(toError(thrown));
      if (status >= 500) onFault(toError(thrown));
      yield `${JSON.stringify(body)}\n`;
    }
  }
  return Readable.from(lines());
}

function unknown(what: string): AppError {
  return new AppError("not_found", `The host does not know ${what}; is it a different version?`);
}
