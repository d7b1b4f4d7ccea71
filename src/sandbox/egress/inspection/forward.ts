import type { IncomingMessage, ServerResponse } from "node:http";
import { request as httpsRequest } from "node:https";
import { pipeline } from "node:stream/promises";

import type { Destination, InjectedSecret } from "../../../domain/sandbox/egress.ts";
import type { SecretFinder } from "../../../lib/secrets/secret-finder.ts";
import { requestHeaders, responseHead } from "./inspected-headers.ts";
import { isCompressed, say } from "./inner-refusals.ts";
import { defaultEgressLimits } from "../meter.ts";
import type { Reflections } from "../secrets/reflections.ts";
import type { EgressEvent } from "../replies.ts";
import { SecretMask } from "../secrets/secret-mask.ts";

/** A request of an agent's that may go to its destination, and where the answer is to be written. */
export interface AgentExchange {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly destination: Destination;
  /** The address to connect to. */
  readonly address: string;
  /** All that the destination may get, and those that this request gets. */
  readonly secrets: { readonly known: readonly InjectedSecret[]; readonly added: readonly InjectedSecret[] };
  /** Finds those that are known. */
  readonly finder: SecretFinder;
  readonly reflections: Reflections;
  /** Certificates that may have signed the destination's; absent: those that Node trusts. */
  readonly trusted: readonly string[] | undefined;
  readonly report: (event: EgressEvent) => Promise<void>;
}

/**
 * Makes the request anew, once, and passes back its answer without secrets. Resolves when the answer has gone, or was
 * cut.
 */
export async function forward(exchange: AgentExchange): Promise<void> {
  const { incoming, response } = exchange;
  const outgoing = send(exchange);
  response.on("close", () => outgoing.destroy());
  const { promise: answered, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  outgoing
    .on("response", resolve)
    .on("error", reject)
    .on("close", () => reject(new Error("closed")));
  const sent = pipeline(incoming, outgoing).catch(() => undefined);
  try {
    await passBack(await answered, exchange);
    await sent;
  } catch {
    outgoing.destroy();
    if (response.headersSent) response.destroy();
    else await failed(exchange);
  }
}

function send({ incoming, destination, address, secrets, trusted }: AgentExchange): ReturnType<typeof httpsRequest> {
  const { host, port } = destination;
  const family = address.includes(":") ? 6 : 4;
  const outgoing = httpsRequest({
    host,
    port,
    servername: host,
    method: incoming.method,
    path: incoming.url,
    headers: requestHeaders(incoming, destination, secrets),
    setDefaultHeaders: false,
    agent: false,
    rejectUnauthorized: true,
    minVersion: "TLSv1.2",
    ...(trusted && { ca: [...trusted] }),
    // Not looked up again: between two answers of a resolver lies an attack.
    lookup: (_host, options, done) => (options.all ? done(null, [{ address, family }]) : done(null, address, family)),
    timeout: defaultEgressLimits.idleMs,
  });
  return outgoing.on("timeout", () => outgoing.destroy(new Error("timeout")));
}

async function passBack(answer: IncomingMessage, exchange: AgentExchange): Promise<void> {
  const { response, destination, report } = exchange;
  if (isCompressed(answer)) {
    answer.destroy();
    const rule = "content-encoding";
    await report({ verdict: "refused", rule, destination });
    say(response, { status: 502, rule, detail: "the answer is compressed although that was not asked for" });
    return;
  }
  using watch = watchForSecrets(exchange);
  const { message, headers } = responseHead(answer, watch.mask);
  response.sendDate = false;
  response.writeHead(answer.statusCode ?? 502, message, headers);
  try {
    await pipeline(answer, watch.mask.stream(), response);
  } finally {
    await watch.recorded();
  }
}

/**
 * A mask for one answer. That it found something is counted and put on record at once; when it is not recorded, the
 * answer is cut. An answer without a secret is cut when its destination is closed meanwhile: it could be the next one
 * that tells.
 */
function watchForSecrets({ destination, reflections, response, finder, report }: AgentExchange): Disposable & {
  readonly mask: SecretMask;
  readonly recorded: () => Promise<void>;
} {
  const name = `${destination.host}:${destination.port}`;
  const closing = reflections.signalOf(name);
  let seen = false;
  let recording: Promise<void> | undefined;
  const putOnRecord = async (isLast: boolean): Promise<void> => {
    try {
      await report({ verdict: "masked", rule: "secret-in-answer", destination });
      if (isLast) await report({ verdict: "barred", rule: "reflects", destination });
    } catch {
      response.destroy();
    }
  };
  const cut = (): void => {
    if (!seen) response.destroy();
  };
  const mask = new SecretMask(finder, () => {
    if (seen) return;
    seen = true;
    recording = putOnRecord(reflections.count(name));
  });
  if (closing.aborted) cut();
  closing.addEventListener("abort", cut, { once: true });
  return {
    mask,
    recorded: async () => recording,
    [Symbol.dispose]: () => closing.removeEventListener("abort", cut),
  };
}

async function failed({ response, destination, report }: AgentExchange): Promise<void> {
  await report({ verdict: "failed", rule: "upstream", destination });
  const { host, port } = destination;
  const detail = `${host}:${port} could not be asked, or its certificate is not valid`;
  say(response, { status: 502, rule: "upstream", detail });
}
