import type { Socket } from "node:net";

import type { Destination } from "../../domain/sandbox/egress.ts";
import type { EventData } from "../../domain/events/event.ts";

/** Each decision, and the end of each tunnel. `rule` decided: the entry of the allowlist, the limit, the fault. */
export type EgressEvent = EventData["egress.judged"];

export interface Refusal {
  readonly status: number;
  readonly rule: string;
  readonly detail: string;
  readonly destination?: Destination;
}

const phrases: Readonly<Record<number, string>> = {
  400: "Bad Request",
  403: "Forbidden",
  405: "Method Not Allowed",
  429: "Too Many Requests",
  502: "Bad Gateway",
};

/** Puts a refusal on record and says it to the client, with the rule and what an operator could change. */
export async function refuse(
  socket: Socket,
  options: { readonly report: (event: EgressEvent) => Promise<void> },
  { status, rule, detail, destination }: Refusal,
): Promise<void> {
  await options.report({ verdict: status === 502 ? "failed" : "refused", rule, destination });
  await answer(socket, status, rule, detail);
}

/** Answers instead of opening a tunnel, and closes. Waits until the answer is handed to the kernel. */
export async function answer(socket: Socket, status: number, rule: string, detail: string): Promise<void> {
  const body = `crabpot: ${detail}.\n`;
  const head = [
    `HTTP/1.1 ${status} ${phrases[status] ?? "Refused"}`,
    "Content-Type: text/plain; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Crabpot-Rule: ${rule}`,
    "Connection: close",
  ];
  if (socket.destroyed) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.once("close", resolve);
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`, () => resolve());
  // What the client still sends is thrown away, so that closing does not reset the connection before it has read.
  socket.resume();
  await promise;
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once("close", () => clearTimeout(timer));
}

/** Time for a client to read an answer and hang up. */
const lingerMs = 1_000;
