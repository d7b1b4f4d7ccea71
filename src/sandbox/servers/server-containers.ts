import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import type { Logger } from "pino";

import type { Group } from "../../domain/chats/group.ts";
import { workFolder } from "../../domain/chats/group.ts";
import type { Publish } from "../../domain/events/event.ts";
import { freeSpace } from "../../lib/files/free-space.ts";
import { hostUid } from "../../lib/process/host-uid.ts";
import type { EgressProxies } from "../egress/egress-proxies.ts";
import type { ContainerEngine } from "../engine/engine.ts";
import type { ContainerLauncher } from "../launch/launcher.ts";
import type { ImageFacts } from "../launch/spec.ts";
import { containerUser } from "../mounts/container-user.ts";
import type { ContainerUser, SandboxSize } from "../profile/profile.ts";
import { serverOf, type ServerOwner, serverOwner } from "./server-owner.ts";
import { Servers } from "./servers.ts";
import { giveFolderTo } from "../workspace/folder-owner.ts";
import { measureFolder } from "../workspace/folder-usage.ts";
import type { Instructions } from "../workspace/instructions.ts";
import { WorkspaceWatch } from "../workspace/workspace-watch.ts";
import type { GroupStore } from "../../stores/contract/store.ts";

/** Stands for the group's name, which has no @, where all groups share a server. */
const ofAllGroups = "@shared";

interface ServerContainersOptions {
  /** The home's folder of MCP servers, below the home. */
  readonly folder: string;
  readonly home: string;
  readonly instance: string;
  readonly engine: ContainerEngine;
  readonly sandbox: () => SandboxSize;
  readonly quotaBytes: () => number;
  readonly imageOf: (group: string | undefined) => Promise<ImageFacts>;
  readonly groups: Pick<GroupStore, "ordinal">;
  readonly openWorkFolder: (group: Group, user: ContainerUser) => Promise<string>;
  readonly egress: Pick<EgressProxies, "open">;
  readonly instructions: Pick<Instructions, "protectedFiles">;
  readonly launcher: Pick<ContainerLauncher, "userOf">;
  readonly publish: Publish;
  readonly logger: Logger;
}

/** Makes what runs MCP servers and plugins in containers. Nothing is done before the first one is opened. */
export function createServerContainers(options: ServerContainersOptions, stack: AsyncDisposableStack): Servers {
  const { engine, instance, groups, openWorkFolder, egress, instructions, launcher, publish, logger } = options;
  const quota = createQuota(options, stack, () => servers);
  const servers: Servers = new Servers({
    engine,
    image: options.imageOf,
    instance,
    get sandbox() {
      return options.sandbox();
    },
    userOf: async ({ kind, server, group }) => {
      const ordinal = await groups.ordinal(`${kind}/${server}/${group ?? ofAllGroups}`);
      const choice = containerUser({ ordinal, instance, grantedMounts: [], hostUid: hostUid() });
      if ("user" in choice) return choice.user;
      throw new Error(choice.refused);
    },
    dataFolder: async (owner, user) => {
      const folder = dataFolderOf(options.folder, owner);
      await mkdir(folder, { recursive: true, mode: 0o755 });
      await giveFolderTo(folder, user, hostUid());
      return folder;
    },
    admit: (owner) => quota(serverOwner(owner)),
    groupFolder: async (group) => {
      const user = await launcher.userOf(group);
      const path = await openWorkFolder(group, user);
      const protectedFiles = await instructions.protectedFiles(workFolder(group));
      return { path, owner: hostUid() === 0 ? user : undefined, protectedFiles };
    },
    openEgress: (owner) => egress.open(serverOwner(owner)),
    publish,
    logger,
  });
  return stack.use(servers);
}

function dataFolderOf(folder: string, { server, group }: Omit<ServerOwner, "kind">): string {
  return join(folder, "data", server, group ?? ofAllGroups);
}

/** Returns the folder of a server's container below the home. */
function placeOf(owner: string): string {
  return dataFolderOf("mcp", serverOf(owner) ?? { server: "", group: undefined });
}

/** Watches what servers keep, each with the quota of a group, from the first server on. */
function createQuota(
  { home, quotaBytes, publish, logger }: ServerContainersOptions,
  stack: AsyncDisposableStack,
  servers: () => Servers,
): (owner: string) => Promise<void> {
  let watch: WorkspaceWatch | undefined;
  stack.defer(() => watch?.[Symbol.asyncDispose]());
  const open = (): WorkspaceWatch =>
    new WorkspaceWatch({
      get limitBytes() {
        return quotaBytes();
      },
      measure: (owner, signal) => measureFolder(join(home, placeOf(owner)), signal),
      free: () => freeSpace(home),
      hot: () =>
        servers()
          .list()
          .filter(({ kind }) => kind === "mcp")
          .map((running) => ({ group: serverOwner(running), session: running.name, busy: true })),
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
    });
  return async (owner) => {
    watch ??= open();
    await watch.admit(owner);
  };
}
