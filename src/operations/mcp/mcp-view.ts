import type { TestedServer, TestedTool } from "../../domain/mcp-server.ts";

/** An MCP server of config.yaml, as it is in the running host. */
export interface McpServerView {
  readonly name: string;
  readonly kind: "stdio" | "remote";
  /** Groups that name it. */
  readonly groups: readonly string[];
  /** `closed`: nobody has needed it lately. */
  readonly state: "closed" | "opening" | "open" | "failed";
  /** Why it cannot be reached. */
  readonly reason?: string | undefined;
}

/** A tool that is used again. */
export type McpToolAllowed = Pick<TestedTool, "server" | "name" | "state">;

/** What the operator can do with MCP servers of a running host. */
export interface McpOperations {
  listMcpServers(): Promise<readonly McpServerView[]>;
  /** Starts the server, asks what it has and pings it, then ends it. Rejects with `not_found`, or why it cannot be used. */
  testMcpServer(name: string): Promise<TestedServer>;
  /** Uses a changed tool as it describes itself now. Rejects with `not_found`, or `conflict` if that is not what `sha256` is of. */
  allowMcpTool(server: string, tool: string, sha256: string): Promise<McpToolAllowed>;
}
