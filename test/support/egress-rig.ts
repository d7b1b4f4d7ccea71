import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { connect as connectTls } from "node:tls";
import type { TLSSocket } from "node:tls";

import { pino } from "pino";

import type { GroupNetwork } from "../../src/domain/sandbox/egress.ts";
import { EgressProxies } from "../../src/sandbox/egress/egress-proxies.ts";
import type { EgressOverrides } from "../../src/sandbox/egress/egress-proxies.ts";
import type { EgressEvent } from "../../src/sandbox/egress/replies.ts";
import { onDisk, temporaryFolder } from "./temporary-folder.ts";

/** The way out of one group, as its containers see it, with all names on the loopback, and what it puts on record. */
export interface EgressRig extends AsyncDisposable {
  readonly folder: string;
  readonly events: EgressEvent[];
  /** Sends a request as it is and returns the connection. */
  raw(request: string | Buffer): Socket;
  /** Sends a request and reads the whole answer, as after a refusal. */
  answer(request: string | Buffer): Promise<string>;
  /** Opens a tunnel to `host:port`; throws with the answer if it is refused. */
  tunnel(target: string): Promise<Socket>;
  /** Opens a tunnel and speaks TLS in it. */
  secure(target: string, options: { servername?: string; ca: string }): Promise<TLSSocket>;
}

export const onLoopback: EgressOverrides = {
  addresses: { resolve: async () => Promise.resolve(["127.0.0.1"]), mayConnect: () => true },
};

export async function egressRig(
  network: Partial<GroupNetwork>,
  overrides: EgressOverrides = {},
  extraAuthorities: readonly string[] = [],
): Promise<EgressRig> {
  await using stack = new AsyncDisposableStack();
  const { path } = stack.use(await temporaryFolder(onDisk));
  const events: EgressEvent[] = [];
  // It stands still: limits of a minute and of a day do not begin anew in the middle of a test.
  const now = Date.now();
  const proxies = stack.use(
    new EgressProxies({
      folder: path,
      keyFolder: path,
      networkOf: () => ({ allow: [], allowPrivate: [], reflects: [], secrets: [], ...network }),
      publish: async ({ data }) => {
        events.push(data);
        await Promise.resolve();
      },
      logger: pino({ level: "silent" }),
      now: () => now,
      overrides: { ...onLoopback, ...overrides },
      extraAuthorities,
    }),
  );
  const place = await proxies.open("family");
  if (!place) throw new Error("the group has no way out");
  const socketPath = join(place.folder, "proxy.sock");
  const raw = (request: string | Buffer): Socket => {
    const socket = connect({ path: socketPath });
    socket.on("error", () => socket.destroy());
    socket.write(request);
    return socket;
  };
  const answer = async (request: string | Buffer): Promise<string> => text(raw(request)).catch(() => "");
  const tunnel = async (target: string): Promise<Socket> => {
    const socket = raw(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`);
    const [head] = (await once(socket, "data")) as [Buffer];
    socket.pause();
    if (head.toString().startsWith("HTTP/1.1 200 ")) return socket;
    throw new Error(`refused: ${head.toString()}`);
  };
  const secure: EgressRig["secure"] = async (target, options) => {
    const socket = await tunnel(target);
    const secured = connectTls({ socket, servername: target.split(":")[0] ?? "", ...options });
    await once(secured, "secureConnect");
    return secured;
  };
  const owned = stack.move();
  return {
    folder: place.folder,
    events,
    raw,
    answer,
    tunnel,
    secure,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
