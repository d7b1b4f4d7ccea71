import type { Readable, Writable } from "node:stream";

import type { StdioServer } from "../../domain/sandbox/mcp-server.ts";
import type { Group } from "../../domain/chats/group.ts";

/** End of a server's container. */
export interface ServerEnd {
  /** Exit code; undefined when it never ran, or unknown. */
  readonly exitCode: number | undefined;
  /** In words for the operator: `exit code 1`, `out of memory`, `ended by crabpot`. */
  readonly reason: string;
  /** Last line on its standard error, when it ended by itself. */
  readonly lastLine?: string | undefined;
}

/**
 * The standard streams of a server in its container. All that comes out of it is hostile. Disposing it ends the
 * container and waits for that.
 */
export interface ServerStreams extends AsyncDisposable {
  readonly input: Writable;
  /** Its standard output, byte for byte, with back-pressure. What it writes to standard error is in the log. */
  readonly output: Readable;
  /** Never rejects. */
  readonly ended: Promise<ServerEnd>;
}

/**
 * Starts the container of a server, for a group or, where the server is shared, for all. Rejects with AppError: what is
 * not installed, an engine that is away, a container that does not pass attestation. `signal` gives up; nothing is left
 * then.
 */
export type OpenStdio = (server: StdioServer, group: Group | undefined, signal: AbortSignal) => Promise<ServerStreams>;
