import type { GroupNetwork } from "./egress.ts";
import type { Risk } from "../rights/policy.ts";

/** What both kinds of servers have. */
interface ServerFacts {
  /** As config.yaml calls it: the first part of its tools' names. */
  readonly name: string;
  /** The only ones of its tools that may be used; undefined: all of them. */
  readonly tools: readonly string[] | undefined;
  /** Of its tools, by their own names, or of all; undefined: by what the server says of them. */
  readonly risk: Risk | Readonly<Record<string, Risk>> | undefined;
}

/** A program in a container of its own that speaks over its standard streams. */
export interface StdioServer extends ServerFacts {
  readonly kind: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** An image instead of the agent's; with one, `command` may be empty: its own entry point. */
  readonly image: string | undefined;
  readonly network: GroupNetwork;
  /** `group`: each group has a container and a data folder of its own. `shared`: all groups have one. */
  readonly scope: "group" | "shared";
  /** How it sees the group's folder at /workspace/group; never where it is shared. */
  readonly folder: "none" | "ro" | "rw";
  /** It may have models of its group answer, within the group's budget; never where it is shared. */
  readonly sampling: boolean;
}

/** A server at an address, which the host calls. */
export interface RemoteServer extends ServerFacts {
  readonly kind: "remote";
  readonly url: string;
  /** Sent with each request; may be secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** `host:port` that may be on a private network or on this machine. */
  readonly allowPrivate: readonly string[];
}

/** A server of the Model Context Protocol (https://modelcontextprotocol.io). */
export type McpServer = StdioServer | RemoteServer;

/**
 * A tool as its server has told of it. `changed`: it says something else than when it was first seen, and is not
 * offered.
 */
export interface TestedTool {
  readonly server: string;
  /** As its server calls it. */
  readonly name: string;
  readonly risk: Risk;
  readonly state: "ok" | "changed" | "refused";
  /** Why it is refused. */
  readonly reason?: string | undefined;
}

/** What a server has said of itself. */
export interface TestedServer {
  readonly name: string;
  readonly version: string;
  readonly protocol: string;
  readonly pingMs: number;
  readonly tools: readonly TestedTool[];
}

/** What stands between the name of a server and that of its tool: `files__read`. */
export const serverToolSeparator = "__";

/** What config.yaml says of the risk of a tool, by the name that its server gives it; undefined: nothing. */
export function configuredRisk({ risk }: Pick<ServerFacts, "risk">, tool: string): Risk | undefined {
  if (typeof risk !== "object") return risk;
  return Object.hasOwn(risk, tool) ? risk[tool] : undefined;
}
