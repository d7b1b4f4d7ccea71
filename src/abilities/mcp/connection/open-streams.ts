import { AppError, toError } from "../../../lib/app-error.ts";
import { parseExactJson } from "../../../lib/text/parse-json.ts";
import type { ServerStreams } from "../../../sandbox/servers/server-streams.ts";
import { type ConnectionOptions, McpConnection } from "./connection.ts";
import { mendEnvelope } from "./mend-answer.ts";
import { StreamTransport } from "./stream-transport.ts";

/** Greets the server behind these streams. Rejects with why it cannot be used; nothing is left open then. */
export async function openStreams(
  streams: ServerStreams,
  onNoise: (line: string) => void,
  options: Omit<ConnectionOptions, "isRemote" | "transport" | "whyClosed">,
): Promise<McpConnection> {
  const { parseJSONRPCMessage } = await import("@modelcontextprotocol/client");
  // A byte order mark is no part of the first message.
  const parse = (line: string) => parseJSONRPCMessage(mendEnvelope(parseExactJson(line.replace(/^\ufeff/, ""))));
  const transport = new StreamTransport({ streams, parse, onNoise });
  try {
    return await McpConnection.open({ ...options, transport, isRemote: false, whyClosed: () => transport.fault });
  } catch (error) {
    // That the connection closed is known: why, the container says.
    if (transport.fault === undefined) throw error;
    throw new AppError("container_lost", `it ended: ${transport.fault} (${toError(error).message})`, { cause: error });
  }
}
