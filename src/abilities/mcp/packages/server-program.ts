import { existsSync } from "node:fs";
import { join } from "node:path";

import type { Logger } from "pino";

import type { StdioServer } from "../../../domain/sandbox/mcp-server.ts";
import { containerPaths } from "../../../protocol/paths.ts";
import type { ServerProgram } from "../../../sandbox/servers/server-streams.ts";
import { readCommandLine } from "./command-line.ts";
import { requireServer, type ServerPackageFolders } from "./server-packages.ts";

export interface ProgramOptions {
  /** The home's folder of MCP servers. */
  readonly folder: string;
  readonly packages: ServerPackageFolders;
  /** Called when a package was installed or was there. */
  readonly installed: () => Promise<void>;
  readonly logger: Pick<Logger, "info">;
}

/**
 * Returns the installed package of the server, or what its command line says: a program of the image, with the
 * operator's own files if there are any.
 */
export async function programOf(
  { folder, packages, installed: noteInstalled, logger }: ProgramOptions,
  server: StdioServer,
  signal: AbortSignal,
): Promise<ServerProgram> {
  const { command, args } = readCommandLine(server);
  const installed = await requireServer(server, packages, {
    signal,
    installing: () => logger.info({ mcp: server.name }, "the package of an MCP server is installed, once"),
  });
  if (installed) {
    await noteInstalled();
    const start = `${containerPaths.package}/${installed.entry.start}`;
    return { command: ["node", start], args, folder: installed.folder };
  }
  const files = join(folder, "files", server.name);
  return { command, args, folder: existsSync(files) ? files : undefined };
}
