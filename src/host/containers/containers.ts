import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import { ensureGlobalFolder, ensureProfilesFolder } from "../../config/home/group-folders.ts";
import { configuredGroups } from "../../config/groups.ts";
import { findAgentImage } from "../../sandbox/images/agent-image.ts";
import { openEngine } from "../../sandbox/engine/catalog.ts";
import { judgeEngine, judgeRuntime } from "../../sandbox/engine/versions.ts";
import type { ContainerEngine } from "../../sandbox/engine/engine.ts";
import { LateEngine } from "../../sandbox/engine/late-engine.ts";
import { giveFolderTo } from "../../sandbox/workspace/folder-owner.ts";
import { ContainerLauncher } from "../../sandbox/launch/launcher.ts";
import type { EgressProxies, EgressOverrides } from "../../sandbox/egress/egress-proxies.ts";
import type { ImageFacts } from "../../sandbox/launch/spec.ts";
import type { EngineImage } from "../../sandbox/images/package-image.ts";
import type { Servers } from "../../sandbox/servers/servers.ts";
import { AppError } from "../../lib/app-error.ts";
import { freeSpace } from "../../lib/files/free-space.ts";
import { memoize } from "../../lib/memoize.ts";
import { HostMailbox } from "../../sandbox/mailbox/host-mailbox.ts";
import { MountWatch } from "../../sandbox/pool/mount-watch.ts";
import { SessionPool } from "../../sandbox/pool/pool.ts";
import { draftFor } from "../../turns/drafts.ts";
import { WorkspaceWatch } from "../../sandbox/workspace/workspace-watch.ts";
import { hostUid } from "../context.ts";
import type { AppContext } from "../context.ts";
import { createJobs } from "../capabilities/jobs.ts";
import { createEgress } from "./egress.ts";
import { measureGroup } from "./files.ts";
import { openGroupFolder } from "./group-folder.ts";
import { createImages, type Images } from "./images.ts";
import { createMcpContainers } from "./mcp-containers.ts";
import { createUntilImage, type UntilImage } from "./until-image.ts";
import type { GroupRegistry } from "../../intake/chats/group-registry.ts";
import type { JobDesk } from "../../abilities/jobs/job-desk.ts";
import type { TellOperator } from "../../delivery/operator-notices.ts";
import { Instructions } from "../../sandbox/workspace/instructions.ts";
import type { GroupSkills } from "../../abilities/skills/group-skills.ts";
import { createSkills } from "../capabilities/skills.ts";
import { leftOf } from "../../domain/sandbox/skill.ts";
import { skillNamesIn } from "../capabilities/skill-narrowing.ts";

/** Between two looks at the free space, each a single system call. */
const watchIntervalMs = 2_000;

export interface Containers {
  readonly engine: ContainerEngine;
  /** Resolves once the engine has answered, may be used, and has the agent's image; rejects with what is missing. */
  readonly prepare: () => Promise<void>;
  readonly images: Images;
  readonly untilImage: UntilImage;
  readonly launcher: ContainerLauncher;
  readonly pool: SessionPool;
  readonly mounts: MountWatch;
  readonly instructions: Instructions;
  readonly skills: GroupSkills;
  readonly jobs: JobDesk;
  /** Containers of MCP servers. */
  readonly servers: Servers;
}

/** The container engine, which is looked for when it is first asked: it may be away for now. */
export function openEngineLater(
  { environment, interception }: AppContext,
  stack: AsyncDisposableStack,
): ContainerEngine {
  const surroundings = { env: environment.variables, homeFolder: environment.userHome };
  return interception.engine(stack.use(new LateEngine(() => openEngine(surroundings))));
}

/** Everything that makes containers. Nothing is asked of the engine before `prepare`. */
export async function openContainers(
  context: AppContext,
  stack: AsyncDisposableStack,
  options: {
    readonly engine: ContainerEngine;
    readonly deliver: () => void;
    readonly tell: TellOperator;
    readonly groups: GroupRegistry;
    /** The end of a job has made work. */
    readonly workAdded: () => void;
    readonly egress?: EgressOverrides | undefined;
  },
): Promise<Containers> {
  const { environment, home, config } = context;
  const { engine } = options;
  const image = memoize(async () => {
    await refuseUnfitEngine(context, engine);
    return findImage(engine, environment.checkout);
  });
  await ensureGlobalFolder(home.paths.global, environment.checkout);
  await ensureProfilesFolder(home.paths.agents, environment.checkout);
  const { clock, logger, publish, store } = context;
  const egress = stack.use(createEgress(context, options.egress));
  const instructions = createInstructions(context, options.tell);
  const skills = createSkills(context, options.tell);
  const images = createImages(context, stack, { engine, base: image, groups: options.groups, pool: () => pool });
  const launcher: ContainerLauncher = createLauncher(context, {
    engine,
    image: images.imageOf,
    egress,
    instructions,
    skills,
    isOther: (name) => servers.has(name),
  });
  const parts = { engine, image, images, egress, instructions, launcher };
  const servers: Servers = createMcpContainers(context, stack, parts);
  const jobs = createJobs(context, { ...options, pool: () => pool });
  const watch = stack.use(createWatch(context, () => pool, jobs));
  const mounts = new MountWatch({
    publish,
    keepExecutionPoints: (turn, changes) => store.executionPoints.add(turn, changes, clock.now()),
    now: () => clock.monotonic(),
    logger,
  });
  stack.use(mounts);
  const pool: SessionPool = stack.use(createPool(context, { launcher, watch, mounts, jobs, deliver: options.deliver }));
  // Timers first: what they would end, the pool ends.
  stack.use(jobs);
  const prepare = async (): Promise<void> => {
    const { id } = await image();
    await images.review();
    context.logger.debug({ image: id, maxHot: config.sessions.maxHot }, "containers can be started");
  };
  const untilImage = createUntilImage(context, { images, deliver: options.deliver });
  return { engine, prepare, images, untilImage, launcher, pool, mounts, instructions, skills, jobs, servers };
}

function createInstructions({ home, store, publish, clock, logger }: AppContext, tell: TellOperator): Instructions {
  return new Instructions({
    folders: { groups: home.paths.groups, copies: home.paths.instructions },
    hostUid: hostUid(),
    store: store.groups,
    changes: store.events,
    tell: (text) => tell({ text }),
    publish,
    clock,
    logger,
  });
}

/** Judges the mounts of the configured groups, and tells of those that are refused now and were not before. */
export async function reviewMounts(
  { logger }: Pick<AppContext, "logger">,
  launcher: Pick<ContainerLauncher, "judgeMounts" | "refusedMounts">,
): Promise<void> {
  const before = new Set(launcher.refusedMounts().map((mount) => JSON.stringify(mount)));
  await launcher.judgeMounts();
  for (const mount of launcher.refusedMounts()) {
    if (before.has(JSON.stringify(mount))) continue;
    const { group, target, reason } = mount;
    logger.warn({ group, target }, `mount ${target} of group ${group} is refused: ${reason}`);
  }
}

async function refuseUnfitEngine({ config, logger, publish }: AppContext, engine: ContainerEngine): Promise<void> {
  const facts = await engine.facts();
  const findings = [...judgeEngine(facts), ...judgeRuntime(facts, config.sandbox.runtime)];
  const data = { kind: facts.kind, version: facts.version, components: facts.components, kernel: facts.kernel };
  await publish({
    type: "engine.judged",
    actor: "host",
    data: { ...data, findings: findings.map(({ detail }) => detail) },
  });
  for (const { level, detail, fix } of findings) {
    if (level === "refuse") throw new AppError("engine_refused", detail, { fix });
    if (level === "warn") logger.debug({ fix }, detail);
  }
}

async function findImage(engine: ContainerEngine, checkout: string): Promise<EngineImage> {
  const { id } = await findAgentImage(engine, checkout);
  const image = await engine.image(id);
  if (!image) throw new AppError("image_missing", `The agent's image ${id} is gone.`, { fix: "npm run setup" });
  return image;
}

/** The folder that a sub-agent may write to, in that of its session. */
export function scratchFolderOf(sessions: string, session: string): string {
  return join(sessions, session, "scratch");
}

function createLauncher(
  context: AppContext,
  options: {
    readonly engine: ContainerEngine;
    readonly image: (group: string) => Promise<ImageFacts>;
    readonly egress: EgressProxies;
    readonly instructions: Instructions;
    readonly skills: GroupSkills;
    readonly isOther: (name: string) => boolean;
  },
): ContainerLauncher {
  const { config, home, environment, store, logs, publish } = context;
  const { engine, image, egress, instructions, skills, isOther } = options;
  return new ContainerLauncher({
    engine,
    image,
    instance: home.instance,
    get sandbox() {
      const { memoryMb, cpus, pids, runtime } = config.sandbox;
      return { memoryMb, cpus, pids, runtime };
    },
    mountContext: {
      homeFolder: environment.userHome,
      crabpotHome: home.paths.root,
      checkout: environment.checkout,
      allowlistPath: home.paths.mounts,
      hostUid: hostUid(),
    },
    get groups() {
      return configuredGroups(config);
    },
    groupFolder: (group, user) => openGroupFolder(context, group, user),
    scratchFolder: async (session, user) => {
      const folder = scratchFolderOf(home.paths.sessions, session);
      await mkdir(folder, { recursive: true, mode: 0o755 });
      await giveFolderTo(folder, user, hostUid());
      return folder;
    },
    protectedFiles: (group) => instructions.protectedFiles(group),
    globalFolder: home.paths.global,
    skillsOf: async (group, session) => {
      const all = await skills.look(group.name);
      return all.length === 0 ? all : leftOf(all, await skillNamesIn(context, { group, session }));
    },
    openEgress: (group) => egress.open(group),
    egressOf: (group) => egress.kindOf(group),
    ordinal: (group) => store.groups.ordinal(group),
    output: (session, group) => logs.of({ id: session, group }).outputOf("container"),
    isOther,
    publish,
  });
}

/** `pool` is there by the time that the watch looks for the first time. */
function createWatch(
  { config, live, home, publish, logger }: AppContext,
  pool: () => SessionPool,
  jobs: JobDesk,
): WorkspaceWatch {
  return new WorkspaceWatch({
    get limitBytes() {
      return config.sandbox.workspaceMb * 1024 * 1024;
    },
    measure: async (group, signal) => {
      const sessions = pool()
        .list()
        .filter((container) => container.group === group);
      const more = sessions.map(({ session }) => scratchFolderOf(home.paths.sessions, session));
      return measureGroup({ live, home }, { group, more }, signal);
    },
    free: () => freeSpace(home.paths.groups),
    hot: () =>
      pool()
        .list()
        .map(({ group, session, state }) => ({ group, session, busy: state === "busy" || jobs.count(session) > 0 })),
    exceeded: async ({ group, session }, hit) => {
      const data = { ...hit, unreported: 0 };
      await publish({ type: "limit.reached", group, session, actor: "agent", data });
      await pool().stop(session, hit.text);
    },
    logger,
    intervalMs: watchIntervalMs,
  });
}

function createPool(
  context: AppContext,
  options: {
    launcher: ContainerLauncher;
    watch: WorkspaceWatch;
    mounts: MountWatch;
    jobs: JobDesk;
    deliver: () => void;
  },
): SessionPool {
  const { config, home, store, logs, clock, logger, publish, interception } = context;
  const { launcher, watch, mounts, jobs, deliver } = options;
  const mailFolder = (session: string, generation: number): string =>
    join(home.paths.sessions, session, "mail", String(generation));
  return new SessionPool({
    launcher: interception.launcher(launcher),
    sessions: store.sessions,
    mailFolder,
    openMailbox: async ({ session, group, generation, firstId, containerUid, ...events }) => {
      const mailbox = await HostMailbox.open({
        folder: mailFolder(session, generation),
        generation,
        firstId,
        containerUid,
        hostUid: hostUid(),
        ...events,
        onRejected: (reason) => {
          const data = { reason, generation };
          publish({ type: "mailbox.violated", group, session, actor: "agent", data }).catch((error: unknown) =>
            logger.error({ error }, "a violation could not be recorded"),
          );
        },
        logger,
      });
      return interception.mailbox(mailbox);
    },
    containerLog: (session, group, level, text) => logs.of({ id: session, group }).write("agent", level, text),
    publish,
    notify: async (group, text) => {
      await store.outbox.add(draftFor(group, { kind: "notice", text, inReplyTo: [], turn: undefined }), clock.now());
      deliver();
    },
    workspaces: watch,
    jobs,
    mounts,
    get limits() {
      const { maxHot, idleStopMinutes, freezeSeconds, memoryReserveMb, silenceTimeoutSeconds } = config.sessions;
      return {
        maxHot,
        idleStopMs: idleStopMinutes * 60_000,
        freezeMs: freezeSeconds * 1000,
        memoryReserveMb,
        readyTimeoutMs: silenceTimeoutSeconds * 1000,
      };
    },
    availableMemoryMb,
    now: () => clock.now(),
    logger,
  });
}

/** Megabytes that programs could still get without others being pushed out; undefined where the kernel does not say. */
async function availableMemoryMb(): Promise<number | undefined> {
  const text = await readFile("/proc/meminfo", "utf8").catch(() => "");
  const kilobytes = /^MemAvailable:\s+(\d+) kB$/m.exec(text)?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
}
