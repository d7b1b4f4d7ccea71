import type { Transport } from "@modelcontextprotocol/client";

import { AppError, toError } from "../../../lib/app-error.ts";
import type { ServerStreams } from "../../../sandbox/servers/server-streams.ts";
import { Connection, type ConnectionOptions } from "./connection.ts";
import { StreamTransport } from "./stream-transport.ts";

/** Address or program of a server. */
export type ReachedServer =
  | { readonly kind: "streams"; readonly streams: ServerStreams; readonly onNoise: (line: string) => void }
  | { readonly kind: "remote"; readonly transport: Transport };

/** Greets the server behind a reached. Rejects with why it cannot be used; nothing is left open then. */
export async function openConnection(
  reached: ReachedServer,
  options: Omit<ConnectionOptions, "transport" | "isRemote" | "whyClosed">,
): Promise<Connection> {
  if (reached.kind === "remote") return Connection.open({ ...options, transport: reached.transport, isRemote: true });
  const { deserializeMessage: parse } = await import("@modelcontextprotocol/client");
  const { streams, onNoise } = reached;
  const transport = new StreamTransport({ streams, parse, onNoise });
  try {
    return await Connection.open({ ...options, transport, isRemote: false, whyClosed: () => transport.fault });
  } catch (error) {
    // That the connection closed is known: why, the container says.
    if (transport.fault === undefined) throw error;
    throw new AppError("container_lost", `it ended: ${transport.fault} (${toError(error).message})`, { cause: error });
  }
}
