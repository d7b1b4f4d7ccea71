import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";

import { AppError } from "../../lib/app-error.ts";
import { InputError } from "../../operations/invoke.ts";

/** Error answer for clients: never a stack, never details of an unexpected error. */
interface ErrorBody {
  readonly error: { readonly code: string; readonly message: string; readonly path?: string };
}

export function errorBody(code: string, message: string): ErrorBody {
  return { error: { code, message } };
}

const codes: Readonly<Record<number, string>> = {
  400: "bad_input",
  404: "not_found",
  405: "bad_input",
  408: "timeout",
  413: "too_large",
  415: "bad_input",
};

/** Converts errors of routes and the server to answers. Logs our own faults. */
export function createErrorHandler(
  logger: Logger,
): (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> {
  return async (error, request, reply) => {
    if (error instanceof AppError) {
      if (error.httpStatus >= 500) logger.warn({ err: error, route: request.routeOptions.url }, "a request failed");
      const path = error instanceof InputError ? { path: error.path } : {};
      return reply.code(error.httpStatus).send({ error: { code: error.code, message: error.message, ...path } });
    }
    const status = error.statusCode ?? 500;
    const code = codes[status];
    if (code !== undefined) return reply.code(status).send(requestError(code, error));
    logger.error({ err: error, route: request.routeOptions.url }, "a request failed unexpectedly");
    return reply.code(500).send(errorBody("internal", "The request failed; see the host's log."));
  };
}

/** The server's own complaints about a request are about its body as a whole. */
function requestError(code: string, error: FastifyError): ErrorBody {
  return { error: { code, message: error.message, ...(code === "bad_input" && { path: "body" }) } };
}
