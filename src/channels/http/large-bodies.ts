import { finished } from "node:stream/promises";

import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { AppError } from "../../lib/app-error.ts";

/** Maximum body of a posted message, with its attachments in base64. */
const bodyBytes = 16 * 1024 * 1024;
/** Texts and names, whatever they hold, have fewer; more of them would keep the host busy for seconds. */
const mostValues = 100_000;
const discardMs = 5_000;

/**
 * Adds a route to which large files can be posted as JSON. Text of any length is read in no time, but a body of many
 * small or deeply nested values is not, so one that is large has to be large by its texts.
 */
export function addPostRoute(
  routes: FastifyInstance,
  path: string,
  handler: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>,
): void {
  routes.register(async (scope) => {
    const parse = scope.getDefaultJsonParser("error", "error");
    scope.removeContentTypeParser("application/json");
    scope.addContentTypeParser<string>("application/json", { parseAs: "string" }, (request, body, done) => {
      if (hasTooManyValues(body)) done(new AppError("too_large", "The request contains too many values."));
      else void parse(request, body, done);
    });
    scope.setErrorHandler<FastifyError>((failure, request) => tellLimit(failure, request));
    scope.post(path, { bodyLimit: bodyBytes }, handler);
  });
}

function hasTooManyValues(body: string): boolean {
  let values = 0;
  for (let at = 0; at < body.length && values <= mostValues; at += 1) {
    const code = body.charCodeAt(at);
    // The comma, and what opens an array or an object.
    if (code === 0x2c || code === 0x5b || code === 0x7b) values += 1;
  }
  return values > mostValues;
}

/** A client that is still sending sees no answer, so for a while the rest of it is read and forgotten. */
async function tellLimit(failure: FastifyError, request: FastifyRequest): Promise<never> {
  if (failure.statusCode !== 413) throw failure;
  request.raw.resume();
  await finished(request.raw, { signal: AbortSignal.timeout(discardMs) }).catch(() => undefined);
  throw new AppError("too_large", "The request is larger than 16 MiB, which is about 12 MB of attachments.");
}
