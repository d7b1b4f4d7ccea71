/** Events about MCP servers. `server` is the name in config.yaml; the server's own words are shortened and escaped. */
export interface McpEventData {
  /**
   * It is there, or has another list of tools. `refused`: names of tools that are not used; `cut`: it has more than are
   * looked at.
   */
  "mcp.opened": {
    readonly server: string;
    readonly version: string;
    readonly protocol: string;
    readonly tools: number;
    readonly refused: readonly { readonly name: string; readonly reason: string }[];
    readonly cut: boolean;
  };
  /** Its package is installed: what config.yaml asked for and what that is, with the hash over all of its files. */
  "mcp.installed": {
    readonly server: string;
    readonly package: string;
    readonly version: string;
    readonly integrity: string | undefined;
    readonly sha256: string;
  };
  "mcp.closed": { readonly server: string; readonly reason: string };
  /** It cannot be reached, or has ended by itself. */
  "mcp.failed": { readonly server: string; readonly reason: string };
  /** Tools say something else of themselves than when they were first seen; SHA-256 of both. */
  "mcp.changed": {
    readonly server: string;
    readonly tools: readonly { readonly name: string; readonly before: string; readonly sha256: string }[];
  };
  /** A tool is about to be used as it describes itself now, because people allowed it. */
  "mcp.allowed": { readonly server: string; readonly name: string; readonly sha256: string };
}
