import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { type Group, isReviewed, workFolder } from "../../domain/chats/group.ts";
import type { MountedFolder, RefusedMount } from "../../domain/sandbox/mount.ts";
import type { ProtectedFile } from "../../domain/rights/protected-file.ts";
import type { Session, SessionKind } from "../../domain/turns/session.ts";
import type { Skill } from "../../domain/sandbox/skill.ts";
import type { Publish } from "../../domain/events/event.ts";
import { AppError } from "../../lib/app-error.ts";
import { containerPaths, mailboxFolders } from "../../protocol/paths.ts";
import type { ContainerEngine, ContainerSummary } from "../engine/engine.ts";
import { judgeGroupMounts, type GroupMounts } from "../mounts/group-mounts.ts";
import { LaunchedContainer } from "./launched-container.ts";
import { coversIn, ensureCovers } from "../mounts/covers.ts";
import { readCovered } from "../mounts/read-covered.ts";
import { MountInspector } from "../mounts/inspector.ts";
import { readRefusals, type MountContext, type MountGrant, type MountVerdict } from "../mounts/rules.ts";
import { describeVerdict, refuseChangedMounts, refuseMissingMount, warningsOf } from "./mount-outcomes.ts";
import type { LauncherReviews } from "./launcher-reviews.ts";
import { pourOutput } from "./pour-output.ts";
import type { ContainerUser, SandboxSize } from "../profile/profile.ts";
import {
  containerLabels as labels,
  containerSpec,
  describeProtected,
  type ContainerSpec,
  type EgressMount,
  type ImageFacts,
} from "./spec.ts";

export interface LauncherOptions {
  readonly engine: ContainerEngine;
  /** The image that containers of the group are made from now, as soon as the engine can be asked for it. */
  readonly image: (group: string) => Promise<ImageFacts>;
  readonly instance: string;
  readonly sandbox: SandboxSize;
  readonly mountContext: MountContext;
  /** All groups that ask for mounts. */
  readonly groups: readonly Pick<Group, "name" | "mounts">[];
  /** The folder in which the group's agent works, made if it is missing, belonging to the container's user. */
  readonly groupFolder: (group: Group, user: ContainerUser) => Promise<string>;
  /** Scratch folder of a sub-agent's session, created if missing, owned by the container's user. */
  readonly scratchFolder?: (session: string, user: ContainerUser) => Promise<string>;
  /** The group's protected files. Throws `not_found` when the folder is missing. */
  readonly protectedFiles: (folder: string) => Promise<readonly ProtectedFile[]>;
  readonly globalFolder: string;
  /** Skills of the group's agent in this session. */
  readonly skillsOf?: (
    group: Group,
    session: Pick<Session, "id" | "kind">,
  ) => Promise<readonly Pick<Skill, "name" | "copy">[]>;
  /** Opens the group's egress, if it has any. */
  readonly openEgress?: (group: string) => Promise<EgressMount | undefined>;
  /** Key that changes with the result of `openEgress`. */
  readonly egressOf?: (group: string) => string;
  /** The group's number, for its uid. */
  readonly ordinal: (group: string) => Promise<number>;
  /** Takes what the container prints to stdout and stderr. */
  readonly output: (session: string, group: string) => { push(bytes: Uint8Array): void; end(): void };
  /** Layers of mounts with review; without them there are none. */
  readonly reviews?: LauncherReviews | undefined;
  /** True for containers of this home that another part manages, by name. */
  readonly isOther?: (name: string) => boolean;
  readonly publish: Publish<"mounts.judged" | "container.created" | "container.started">;
}

interface Prepared extends GroupMounts {
  readonly image: ImageFacts;
  readonly inspector: MountInspector | undefined;
  readonly specOf: (generation: number, mailFolder: string) => ContainerSpec;
}

/** One life of a session's container. */
interface Life {
  readonly group: Group;
  readonly session: Session;
  readonly generation: number;
  readonly mailFolder: string;
}

/** Maximum looks for files that are swapped back and forth; each takes less than a millisecond. */
const looksForSwaps = 50;

/** Makes hardened containers for sessions. Every mount is judged anew for each container. */
export class ContainerLauncher {
  readonly #options: LauncherOptions;
  readonly #granted = new Map<string, readonly MountGrant[]>();
  readonly #refused = new Map<string, readonly RefusedMount[]>();
  /** By session; of those alone whose image has some. */
  readonly #packages = new Map<string, string>();

  constructor(options: LauncherOptions) {
    this.#options = options;
  }

  /** Folders as the group's agent sees them, or a sub-agent, as far as they have been judged. */
  foldersOf(group: string, kind: SessionKind = "main"): readonly MountedFolder[] {
    const folders = this.#foldersOfGroup(group);
    if (kind !== "agent") return folders;
    const others = folders.map((folder) => ({ ...folder, access: "ro" as const }));
    return [{ path: containerPaths.scratch, access: "rw" }, ...others];
  }

  /** The packages in the image that the session's container was last made from, besides those that all have. */
  packagesOf(session: string): string | undefined {
    return this.#packages.get(session);
  }

  #foldersOfGroup(group: string): readonly MountedFolder[] {
    const extra = (this.#granted.get(group) ?? []).map(({ target, verdict, covered = [], protect = [] }) => ({
      path: `${containerPaths.extra}/${target}`,
      access: verdict,
      ...(covered.length > 0 && { covered: covered.map(({ path }) => path) }),
      ...(protect.length > 0 && { protect: protect.map(({ path }) => path) }),
    }));
    return [{ path: containerPaths.group, access: "rw" }, { path: containerPaths.global, access: "ro" }, ...extra];
  }

  /**
   * Reads a file that is covered in a container of the group, given by its path there. Throws `bad_input` with words
   * for the model.
   */
  async readCovered(group: string, path: string): Promise<string> {
    return readCovered(this.#granted.get(group) ?? [], path);
  }

  /** Mounts that groups of the configuration ask for and did not get when they were last judged. */
  refusedMounts(): RefusedMount[] {
    return this.#options.groups.flatMap(({ name, mounts }) => {
      const isAsked = ({ source, target }: RefusedMount): boolean =>
        mounts.some((mount) => mount.source === source && mount.target === target);
      return (this.#refused.get(name) ?? []).filter(isAsked);
    });
  }

  /** Judges the mounts that a group would get, without side effects. */
  async judgeWanted(group: Pick<Group, "name" | "mounts">): Promise<readonly MountVerdict[]> {
    const { instance, groups } = this.#options;
    const context = this.#mountContext;
    const ordinal = await this.#options.ordinal(group.name);
    return (await judgeGroupMounts(group, groups, { context, ordinal, instance })).verdicts;
  }

  /** Judges what all groups of the configuration ask for, before a container needs it. */
  async judgeMounts(): Promise<void> {
    for (const group of this.#options.groups) if (group.mounts.length > 0) await this.#judge(group);
  }

  get #mountContext(): MountContext {
    const { mountContext, reviews } = this.#options;
    return { ...mountContext, reviewFault: reviews && (() => reviews.fault()) };
  }

  async #judge(group: Pick<Group, "name" | "mounts">): Promise<GroupMounts> {
    const { instance, groups } = this.#options;
    const context = this.#mountContext;
    const ordinal = await this.#options.ordinal(group.name);
    const settled = await judgeGroupMounts(group, groups, { context, ordinal, instance });
    const denied = settled.verdicts.filter(({ verdict }) => verdict === "denied");
    this.#refused.set(
      group.name,
      denied.map(({ source, target, reason }) => ({ group: group.name, source, target, reason })),
    );
    return settled;
  }

  /**
   * Changes with anything that a container of this group is made from, without looking at the folders themselves, but
   * for its protected files. Whatever others do in mounts with review from now on is told from what its turn does.
   */
  async fingerprint(group: Group, session: Pick<Session, "id" | "kind">): Promise<string> {
    const { mountContext, sandbox, egressOf, reviews } = this.#options;
    if (group.mounts.some(isReviewed)) await reviews?.mayHaveChanged(group.name);
    const image = await this.#options.image(group.name);
    const allowlist =
      group.mounts.length === 0 ? "" : await readFile(mountContext.allowlistPath, "utf8").catch(() => "");
    const folder = workFolder(group);
    const files = describeProtected(await this.#protectedFilesIfAny(folder));
    const skills = (await this.#skillsOf(group, session)).map(({ name, copy }) => `${name} ${copy}`);
    const parts = [image.id, sandbox, group.mounts, allowlist, egressOf?.(group.name), files, folder, ...skills];
    const inputs = JSON.stringify(parts);
    return createHash("sha256").update(inputs).digest("hex");
  }

  async #skillsOf(group: Group, session: Pick<Session, "id" | "kind">) {
    return (await this.#options.skillsOf?.(group, session)) ?? [];
  }

  /** A group without a folder gets one when its container is made. */
  async #protectedFilesIfAny(folder: string): Promise<readonly ProtectedFile[]> {
    return this.#options.protectedFiles(folder).catch((error: unknown) => {
      if (error instanceof AppError && error.code === "not_found") return [];
      throw error;
    });
  }

  async plan(group: Group, session: Session) {
    const prepared = await this.#prepare(group, session);
    return {
      uid: prepared.user.uid,
      warnings: prepared.verdicts.flatMap(warningsOf),
      start: (generation: number, mailFolder: string) =>
        this.#start(prepared, { group, session, generation, mailFolder }),
    };
  }

  /** The user that containers of this group run as. */
  async userOf(group: Pick<Group, "name" | "mounts">): Promise<ContainerUser> {
    return (await this.#judge(group)).user;
  }

  /** Containers with this home's label, except those managed by another part, after decisions about their mounts. */
  async found() {
    const { engine, instance, isOther, reviews } = this.#options;
    await reviews?.finishAll();
    const summaries = await engine.list({ [labels.instance]: instance });
    return summaries
      .filter(({ name }) => isOther?.(name) !== true && reviews?.isLooking(name) !== true)
      .map((summary) => this.#describe(summary));
  }

  #describe(summary: ContainerSummary) {
    const generation = Number(summary.labels[labels.generation]);
    return {
      name: summary.name,
      session: summary.labels[labels.session] ?? "",
      generation,
      running: summary.running,
      adopt: (group: Group, session: Session, mailFolder: string) =>
        this.#adopt(summary, { group, session, generation, mailFolder }),
      remove: () => this.#options.engine.remove(summary.id),
    };
  }

  async #adopt(summary: ContainerSummary, life: Life): Promise<LaunchedContainer | string> {
    const { engine } = this.#options;
    const prepared = await this.#prepare(life.group, life.session);
    const { body, hash, name } = prepared.specOf(life.generation, life.mailFolder);
    if (summary.labels[labels.spec] !== hash) return "its configuration changed";
    return new LaunchedContainer({
      engine,
      body,
      name,
      id: summary.id,
      generation: life.generation,
      uid: prepared.user.uid,
      mailFolder: life.mailFolder,
      granted: prepared.granted,
      inspector: prepared.inspector,
      reviewFaults: this.#reviewFaults(life.group.name, prepared),
    });
  }

  async #prepare(group: Group, session: Session): Promise<Prepared> {
    const { instance, sandbox, globalFolder } = this.#options;
    const image = await this.#options.image(group.name);
    if (image.packages === undefined) this.#packages.delete(session.id);
    else this.#packages.set(session.id, image.packages);
    const ofGroup = await this.#judge(group);
    this.#granted.set(group.name, ofGroup.granted);
    const settled = await this.#withLayers(group.name, session.kind === "agent" ? readOnly(ofGroup) : ofGroup);
    const { user, granted, verdicts } = settled;
    if (verdicts.length > 0) {
      const data = { group: group.name, session: session.id, mounts: verdicts.map(describeVerdict) };
      await this.#options.publish({ type: "mounts.judged", actor: "host", data });
    }
    const groupFolder = await this.#options.groupFolder(group, user);
    const scratch = await this.#scratchOf(session, user);
    const protectedFiles = await this.#options.protectedFiles(workFolder(group));
    const egress = await this.#options.openEgress?.(group.name);
    const skills = await this.#skillsOf(group, session);
    const specOf: Prepared["specOf"] = (generation, mailFolder) => {
      const mail = {
        toAgent: join(mailFolder, mailboxFolders.toAgent),
        toHost: join(mailFolder, mailboxFolders.toHost),
      };
      const folders = { group: groupFolder, scratch, global: globalFolder, ...mail };
      return containerSpec({
        image,
        user,
        instance,
        group: group.name,
        session: session.id,
        kind: session.kind,
        generation,
        sandbox,
        folders,
        protectedFiles,
        granted,
        skills,
        egress,
      });
    };
    const inspector = await this.#inspectorFor(settled, groupFolder);
    return { ...settled, image, inspector, specOf };
  }

  async #withLayers(group: string, mounts: GroupMounts): Promise<GroupMounts> {
    const { reviews } = this.#options;
    const granted = await Promise.all(
      mounts.granted.map(async (mount) => {
        if (mount.verdict !== "review" || reviews === undefined) return mount;
        const { volume, options } = await reviews.open(group, mount);
        return { ...mount, review: { volume, options } };
      }),
    );
    return { ...mounts, granted };
  }

  /** Returns the scratch folder of a sub-agent, which would otherwise get the group's folder. */
  async #scratchOf({ id, kind }: Session, user: ContainerUser): Promise<string | undefined> {
    if (kind !== "agent") return undefined;
    const { scratchFolder } = this.#options;
    if (!scratchFolder) throw new AppError("engine_refused", `Session ${id} of a sub-agent has no scratch folder.`);
    return scratchFolder(id, user);
  }

  async #inspectorFor({ granted, user }: GroupMounts, groupFolder: string): Promise<MountInspector | undefined> {
    if (granted.length === 0) return undefined;
    const refusals = await readRefusals(this.#options.mountContext);
    const refuseName = (name: string): string | undefined => refusals.ofName(name);
    return new MountInspector({ granted, groupFolder, uid: user.uid, refuseName, refusedNames: refusals.names });
  }

  #reviewFaults(group: string, mounts: GroupMounts): () => Promise<readonly string[]> {
    return async () => (await this.#options.reviews?.faults(group, reviewedOf(mounts))) ?? [];
  }

  /** Starts the container. An engine reports a swapped mount source in its own words, if at all. */
  async #start(prepared: Prepared, life: Life): Promise<LaunchedContainer> {
    try {
      return await this.#create(prepared, life);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "engine_refused") throw error;
      for (let look = 0; look < looksForSwaps; look += 1) await refuseChangedMounts(prepared.granted, error);
      refuseMissingMount(prepared.granted, error);
      throw error;
    }
  }

  async #create(prepared: Prepared, life: Life): Promise<LaunchedContainer> {
    const { engine, publish } = this.#options;
    const { name, body, hash } = prepared.specOf(life.generation, life.mailFolder);
    const about = { group: life.group.name, session: life.session.id, actor: "host" } as const;
    await ensureCovers(coversIn(this.#options.mountContext.crabpotHome));
    await refuseChangedMounts(prepared.granted);
    const mounts = prepared.granted.map(({ realPath, target, verdict }) => ({ realPath, target, verdict }));
    const bodyHash = createHash("sha256").update(JSON.stringify(body)).digest("hex");
    const data = { name, spec: hash, body: bodyHash, image: prepared.image.id, uid: prepared.user.uid, mounts };
    await publish({ type: "container.created", ...about, data });
    using _ = await this.#options.reviews?.hold(about.group, reviewedOf(prepared));
    const id = await engine.create(name, body);
    let launched: LaunchedContainer | undefined;
    try {
      const begin = { type: "container.started", ...about, data: { name, container: id } } as const;
      const [output] = await Promise.all([engine.attach(id), publish(begin)]);
      pourOutput(output, this.#options.output(about.session, about.group));
      const { generation, mailFolder } = life;
      const options = {
        engine,
        id,
        name,
        body,
        generation,
        mailFolder,
        uid: prepared.user.uid,
        granted: prepared.granted,
        inspector: prepared.inspector,
        reviewFaults: this.#reviewFaults(life.group.name, prepared),
      };
      launched = new LaunchedContainer(options);
      await engine.start(id);
      void launched.lookFromOutside();
      return launched;
    } catch (error) {
      // An engine that went away in between: what it keeps is looked for later, and the reason is the first error.
      await (launched ? launched.remove() : engine.remove(id)).catch(() => undefined);
      throw error;
    }
  }
}

/**
 * Makes a group's mounts read-only, for sub-agents. One with review keeps its layer, so that they see what the group's
 * other agents changed; beside a scratch folder no container can write it.
 */
function readOnly(mounts: GroupMounts): GroupMounts {
  const granted = mounts.granted.map((mount) =>
    mount.verdict === "rw" ? { ...mount, verdict: "ro" as const } : mount,
  );
  return { ...mounts, granted };
}

function reviewedOf({ granted }: GroupMounts): readonly MountGrant[] {
  return granted.filter(({ verdict }) => verdict === "review");
}
