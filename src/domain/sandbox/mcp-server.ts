import type { GroupNetwork } from "./egress.ts";
import type { Risk } from "../rights/policy.ts";

/** Settings that both kinds of servers share. */
interface ServerFacts {
  /** Name in config.yaml, and the prefix of its tools' names. */
  readonly name: string;
  /** The only ones of its tools that may be used; undefined: all of them. */
  readonly tools: readonly string[] | undefined;
  /** Values that its forms may ask people for: `choices` are choices, dates, booleans and small numbers. */
  readonly forms: "choices" | "text";
  /** Risk of all tools, or by tool; undefined: judged by the server's own annotations. */
  readonly risk: Risk | Readonly<Record<string, Risk>> | undefined;
}

/** A program in its own container that speaks over its standard streams. */
export interface StdioServer extends ServerFacts {
  readonly kind: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** An image instead of the agent's; with one, `command` may be empty: its own entry point. */
  readonly image: string | undefined;
  readonly network: GroupNetwork;
  /** `group`: each group has a container and its own data folder. `shared`: all groups have one. */
  readonly scope: "group" | "shared";
  /** Access to the group's folder at /workspace/group; never for a shared server. */
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
 * A tool as its server has told about it. `changed`: it says something else than when it was first seen, and is not
 * offered.
 */
export interface TestedTool {
  readonly server: string;
  /** Name given by the server. */
  readonly name: string;
  readonly risk: Risk;
  readonly state: "ok" | "changed" | "refused";
  /** Reason of the refusal. */
  readonly reason?: string | undefined;
}

/** The server's description of itself, from a test connection. */
export interface TestedServer {
  readonly name: string;
  readonly version: string;
  readonly protocol: string;
  readonly pingMs: number;
  readonly tools: readonly TestedTool[];
}

/** Separator between server and tool in a tool's name: `files__read`. */
export const serverToolSeparator = "__";

/** Returns the risk that config.yaml gives to a tool, by the server's name for it; undefined when none. */
export function configuredRisk({ risk }: Pick<ServerFacts, "risk">, tool: string): Risk | undefined {
  if (typeof risk !== "object") return risk;
  return Object.hasOwn(risk, tool) ? risk[tool] : undefined;
}
