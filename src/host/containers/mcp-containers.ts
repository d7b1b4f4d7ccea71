import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import { workFolder } from "../../domain/chats/group.ts";
import type { StdioServer } from "../../domain/sandbox/mcp-server.ts";
import { freeSpace } from "../../lib/files/free-space.ts";
import { speechServer } from "../../domain/settings/speech.ts";
import { mebibyte } from "../../lib/text/bytes.ts";
import { readCommandLine } from "../../abilities/mcp/packages/command-line.ts";
import { type PackagePlaces, requireServer } from "../../abilities/mcp/packages/server-packages.ts";
import { containerPaths } from "../../protocol/paths.ts";
import type { EgressProxies } from "../../sandbox/egress/egress-proxies.ts";
import type { ContainerEngine } from "../../sandbox/engine/engine.ts";
import type { ContainerLauncher } from "../../sandbox/launch/launcher.ts";
import type { ImageFacts } from "../../sandbox/launch/spec.ts";
import { containerUser } from "../../sandbox/mounts/container-user.ts";
import { type ServerProgram, Servers, type SharedFolder } from "../../sandbox/servers/servers.ts";
import { giveFolderTo } from "../../sandbox/workspace/folder-owner.ts";
import { measureFolder } from "../../sandbox/workspace/folder-usage.ts";
import type { Instructions } from "../../sandbox/workspace/instructions.ts";
import { WorkspaceWatch } from "../../sandbox/workspace/workspace-watch.ts";
import { type AppContext, hostUid } from "../context.ts";
import { noteInstalled } from "../installed.ts";
import { serverOf, serverOwner } from "./egress.ts";
import type { Images } from "./images.ts";
import { openGroupFolder } from "./group-folder.ts";

/** In place of a group's name, which has no @. */
const ofAllGroups = "@shared";
/** Between two looks at the free space, each a single system call, once a server has been started. */
const watchIntervalMs = 2_000;

/** Where packages of MCP servers are in this home. */
export function packagePlaces({
  home,
  environment,
  clock,
}: Pick<AppContext, "home" | "environment" | "clock">): PackagePlaces {
  const { mcp, mcpLock } = home.paths;
  const folder = join(mcp, "packages");
  return { lock: mcpLock, folder, variables: environment.variables, now: () => clock.now() };
}

/** The containers of MCP servers. Nothing is done before the first one is opened. */
export function createMcpContainers(
  context: AppContext,
  stack: AsyncDisposableStack,
  options: {
    readonly engine: ContainerEngine;
    /** The agent's, and that of a group. */
    readonly image: () => Promise<ImageFacts>;
    readonly images: Pick<Images, "imageOf">;
    readonly egress: EgressProxies;
    readonly instructions: Pick<Instructions, "protectedFiles">;
    readonly launcher: Pick<ContainerLauncher, "userOf">;
  },
): Servers {
  const { config, home, store, logger, publish } = context;
  const { engine, image, images, egress, instructions, launcher } = options;
  const quota = createQuota(context, stack, () => servers);
  const servers: Servers = new Servers({
    engine,
    image: ({ name }, group) => (name === speechServer && group ? images.imageOf(group.name) : image()),
    instance: home.instance,
    get sandbox() {
      const { memoryMb, cpus, pids, runtime } = config.sandbox;
      return { memoryMb, cpus, pids, runtime };
    },
    program: (server, signal) => programOf(context, server, signal),
    userOf: async (server, group) => {
      const ordinal = await store.groups.ordinal(`mcp/${server}/${group ?? ofAllGroups}`);
      const choice = containerUser({ ordinal, instance: home.instance, grantedMounts: [], hostUid: hostUid() });
      if ("user" in choice) return choice.user;
      throw new Error(choice.refused);
    },
    dataFolder: async (server, group, user) => {
      const folder = dataFolderOf(home.paths.mcp, server, group);
      await mkdir(folder, { recursive: true, mode: 0o755 });
      await giveFolderTo(folder, user, hostUid());
      return folder;
    },
    admit: (server, group) => quota(serverOwner(server, group)),
    groupFolder: async (group): Promise<SharedFolder> => {
      const user = await launcher.userOf(group);
      const path = await openGroupFolder(context, group, user);
      const protectedFiles = await instructions.protectedFiles(workFolder(group));
      return { path, owner: hostUid() === 0 ? user : undefined, protectedFiles };
    },
    openEgress: (server, group) => egress.open(serverOwner(server.name, group)),
    publish,
    logger,
  });
  return stack.use(servers);
}

function dataFolderOf(mcp: string, server: string, group: string | undefined): string {
  return join(mcp, "data", server, group ?? ofAllGroups);
}

/**
 * What was installed for it, or what its command line says: a program of the image, with the operator's own files if
 * there are any.
 */
async function programOf(context: AppContext, server: StdioServer, signal: AbortSignal): Promise<ServerProgram> {
  const { home, logger } = context;
  const { command, args } = readCommandLine(server);
  const installed = await requireServer(server, packagePlaces(context), {
    signal,
    installing: () => logger.info({ mcp: server.name }, "the package of an MCP server is installed, once"),
  });
  if (installed) {
    await noteInstalled(context);
    const start = `${containerPaths.package}/${installed.entry.start}`;
    return { command: ["node", start], args, folder: installed.folder };
  }
  const files = join(home.paths.mcp, "files", server.name);
  return { command, args, folder: existsSync(files) ? files : undefined };
}

/** Its folder below the home. */
function placeOf(owner: string): string {
  const { server, group } = serverOf(owner) ?? { server: "", group: undefined };
  return dataFolderOf("mcp", server, group);
}

/** The quota of what servers keep, each as much as a group: watched from the first server on. */
function createQuota(
  { config, home, publish, logger }: AppContext,
  stack: AsyncDisposableStack,
  servers: () => Servers,
): (owner: string) => Promise<void> {
  let watch: WorkspaceWatch | undefined;
  stack.defer(() => watch?.[Symbol.asyncDispose]());
  const open = (): WorkspaceWatch =>
    new WorkspaceWatch({
      get limitBytes() {
        return config.sandbox.workspaceMb * mebibyte;
      },
      measure: (owner, signal) => measureFolder(join(home.paths.root, placeOf(owner)), signal),
      free: () => freeSpace(home.paths.root),
      hot: () =>
        servers()
          .list()
          .map(({ server, group, name }) => ({ group: serverOwner(server, group), session: name, busy: true })),
      exceeded: async ({ group: owner, session: name }, hit) => {
        const data = { ...hit, unreported: 0 };
        await publish({ type: "limit.reached", group: serverOf(owner)?.group, actor: "agent", data });
        await servers().stop(name, hit.text);
      },
      describe: (owner) => ({
        what: "The folder of the MCP server",
        place: placeOf(owner),
        refused: "The server is not started",
      }),
      logger,
      intervalMs: watchIntervalMs,
    });
  return async (owner) => {
    watch ??= open();
    await watch.admit(owner);
  };
}
