import { randomBytes } from "node:crypto";
import { chmod, lstat, mkdir, rename, rm } from "node:fs/promises";
import { createConnection } from "node:net";
import { dirname, join } from "node:path";

import fastify from "fastify";

import { AppError } from "../../lib/app-error.ts";
import { withShortPath } from "../../lib/files/socket-path.ts";
import { makeControlKey } from "../../lib/process/control-key.ts";
import { withoutSchemas } from "../../lib/http/without-schemas.ts";
import { addOperationRoutes } from "./operation-routes.ts";
import type { OperationRouteOptions } from "./operation-routes.ts";

export interface ControlServerOptions extends OperationRouteOptions {
  /** `<home>/control.sock`; the home is a folder that only its user can enter. */
  readonly socketPath: string;
}

/**
 * Listens for the operator's commands on a Unix socket that only the host's own user (and root) can connect to; only
 * who sends the key in `control.key` beside it is answered. A socket that a dead host has left behind is replaced; one
 * that is answered is not: AppError `host_running`. Disposing ends running requests and removes socket and key.
 */
export async function startControlServer(options: ControlServerOptions): Promise<AsyncDisposable> {
  await requireVacant(options.socketPath);
  const server = fastify({
    forceCloseConnections: true,
    bodyLimit: 64 * 1024,
    logger: false,
    schemaController: withoutSchemas,
  });
  const key = await makeControlKey(options.socketPath);
  // Before anything of the request is looked at, its path included.
  server.addHook("onRequest", async ({ headers }) => {
    if (key.fits(headers.authorization)) return;
    throw new AppError("unauthorized", "Only the operator's commands are answered here.", {
      fix: "Run the command as the user that runs the host, with its CRABPOT_HOME.",
    });
  });
  addOperationRoutes(server, options);
  // Nobody can reach the socket before it has its mode: it is bound in its own folder (0700) and then moved.
  const folder = join(dirname(options.socketPath), `.control-${randomBytes(4).toString("hex")}`);
  await mkdir(folder, { mode: 0o700 });
  try {
    const bound = join(folder, "control.sock");
    await withShortPath(bound, (path) => server.listen({ path }));
    await chmod(bound, 0o600);
    await rename(bound, options.socketPath);
  } catch (error) {
    await server.close();
    await key[Symbol.asyncDispose]();
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  const { ino } = await lstat(options.socketPath);
  return {
    [Symbol.asyncDispose]: async () => {
      const found = await lstat(options.socketPath).catch(() => undefined);
      if (found?.ino === ino) await rm(options.socketPath, { force: true });
      await server.close();
      await key[Symbol.asyncDispose]();
    },
  };
}

/** Removes a socket without a listener. */
async function requireVacant(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return;
  if (!found.isSocket()) {
    throw new AppError("setup_required", `${path} should be the control socket, but is something else.`, {
      fix: `Move it away: mv ${path} ${path}.old`,
    });
  }
  if (await withShortPath(path, isAnswered)) {
    throw new AppError("host_running", `Another host answers on ${path}.`, {
      fix: "Stop it first, or set CRABPOT_HOME to another folder.",
    });
  }
  await rm(path);
}

async function isAnswered(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const connection = createConnection({ path });
  connection.once("connect", () => resolve(true));
  connection.once("error", (error: NodeJS.ErrnoException) => resolve(error.code !== "ECONNREFUSED"));
  try {
    return await promise;
  } finally {
    connection.destroy();
  }
}
