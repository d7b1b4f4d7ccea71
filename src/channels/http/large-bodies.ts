import { finished } from "node:stream/promises";
import { setImmediate as nextRound } from "node:timers/promises";

import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { AppError } from "../../lib/app-error.ts";

/** Maximum body of a posted message, with its attachments in base64. */
const bodyBytes = 16 * 1024 * 1024;
/** Texts and names, whatever they hold, have fewer; more of them would keep the host busy for seconds. */
const mostValues = 100_000;
const discardMs = 5_000;
/** Longer bodies are parsed one in each round of the event loop, however many have come at once. */
const largeChars = 256 * 1024;

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
    let lastRound = Promise.resolve();
    scope.addContentTypeParser<string>("application/json", { parseAs: "string" }, (request, body, done) => {
      const read = (): void => {
        if (hasTooManyValues(body)) return done(new AppError("too_large", "The request contains too many values."));
        const value = readHarmless(body);
        if (value === undefined) void parse(request, body, done);
        else done(null, value);
      };
      if (body.length < largeChars) return read();
      lastRound = lastRound.then(() => nextRound());
      return void lastRound.then(read);
    });
    scope.setErrorHandler<FastifyError>((failure, request) => tellLimit(failure, request));
    scope.post(path, { bodyLimit: bodyBytes }, handler);
  });
}

/** Keys that change prototypes; behind the last sign each of them can be spelled with escapes. */
const suspicious = ["__proto__", "constructor", "\\u00"];

/**
 * Parses a body that cannot hold a key which changes prototypes. Undefined for others, and for what is no JSON: the
 * framework's own parser, which takes five times as long, tells what is wrong with them.
 */
function readHarmless(body: string): unknown {
  if (suspicious.some((sign) => body.includes(sign))) return undefined;
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function hasTooManyValues(body: string): boolean {
  let values = 0;
  // The comma, and what opens an array or an object.
  for (const sign of ",[{") {
    for (let at = body.indexOf(sign); at >= 0 && values <= mostValues; at = body.indexOf(sign, at + 1)) values += 1;
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
