import type { Readable, Writable } from "node:stream";

import type { ContainedPlugin } from "../../domain/sandbox/contained-plugin.ts";
import type { StdioServer } from "../../domain/sandbox/mcp-server.ts";
import type { Group } from "../../domain/chats/group.ts";

/** Owner of a container with standard streams: the kinds differ in what they see and keep, not in their walls. */
export type ContainedServer = StdioServer | ContainedPlugin;

/** A program in a server's container. */
export interface ServerProgram {
  readonly command: readonly string[];
  readonly args: readonly string[];
  /** Host folder of an installed program. */
  readonly folder?: string | undefined;
}

/** A server that is to be started in a container. */
export interface ServerToOpen {
  readonly server: ContainedServer;
  /** Sees to it that its program is installed, and returns it. */
  readonly program: (signal: AbortSignal) => Promise<ServerProgram>;
  /** True where it runs in the group's image, which has the group's packages. */
  readonly inGroupImage?: boolean;
}

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
export type OpenStdio = (wanted: ServerToOpen, group: Group | undefined, signal: AbortSignal) => Promise<ServerStreams>;
