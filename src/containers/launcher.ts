import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import type { Access, Group } from "../domain/group.ts";
import type { Session } from "../domain/session.ts";
import { AppError } from "../lib/app-error.ts";
import { containerPaths, mailboxFolders } from "../protocol/paths.ts";
import type { ContainerEngine, ContainerSummary } from "./engine.ts";
import { settleMounts } from "./group-mounts.ts";
import type { GroupMounts } from "./group-mounts.ts";
import { LaunchedContainer } from "./launched-container.ts";
import { recheckMount } from "./mount-identity.ts";
import { judgeMounts } from "./mount-rules.ts";
import type { MountContext, MountGrant } from "./mount-rules.ts";
import { pourOutput } from "./pour-output.ts";
import type { ContainerUser, SandboxSize } from "./profile.ts";
import { containerLabels as labels, containerSpec } from "./spec.ts";
import type { ContainerSpec, EgressMount, ImageFacts } from "./spec.ts";

/** What is put on record before and after a container is made. */
export interface LaunchRecord {
  readonly type: "mount-verdict" | "container-create" | "container-start";
  readonly group: string;
  readonly session: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface LauncherParts {
  readonly engine: ContainerEngine;
  /** The image of the agent, as soon as the engine can be asked for it. */
  readonly image: () => Promise<ImageFacts>;
  readonly instance: string;
  readonly sandbox: SandboxSize;
  readonly mountContext: MountContext;
  /** The folder of the group, made if it is missing, belonging to the container's user. */
  readonly groupFolder: (group: Group, user: ContainerUser) => Promise<string>;
  readonly globalFolder: string;
  /** Opens the group's way out, if it has one. */
  readonly openEgress?: (group: string) => Promise<EgressMount | undefined>;
  /** Changes with what `openEgress` gives. */
  readonly egressOf?: (group: string) => string;
  /** The group's number, for its uid. */
  readonly ordinal: (group: string) => Promise<number>;
  /** Takes what the container prints to stdout and stderr. */
  readonly output: (session: string, group: string) => { push(bytes: Uint8Array): void; end(): void };
  readonly record: (record: LaunchRecord) => Promise<void>;
}

interface Prepared extends GroupMounts {
  readonly image: ImageFacts;
  readonly specOf: (generation: number, mailFolder: string) => ContainerSpec;
}

/** Makes hardened containers for sessions. Every mount is judged anew for each container. */
export class ContainerLauncher {
  readonly #parts: LauncherParts;
  readonly #granted = new Map<string, readonly MountGrant[]>();

  constructor(parts: LauncherParts) {
    this.#parts = parts;
  }

  /** Folders as the group's agent sees them, as far as they have been judged. */
  foldersOf(group: string): readonly { readonly path: string; readonly access: Access }[] {
    const extra = (this.#granted.get(group) ?? []).map(({ target, verdict }) => ({
      path: `${containerPaths.extra}/${target}`,
      access: verdict,
    }));
    return [{ path: containerPaths.group, access: "rw" }, { path: containerPaths.global, access: "ro" }, ...extra];
  }

  /** Changes with anything that a container of this group is made from, without looking at the folders themselves. */
  async fingerprint(group: Group): Promise<string> {
    const { mountContext, sandbox, egressOf } = this.#parts;
    const image = await this.#parts.image();
    const allowlist =
      group.mounts.length === 0 ? "" : await readFile(mountContext.allowlistPath, "utf8").catch(() => "");
    const inputs = JSON.stringify([image.id, sandbox, group.mounts, allowlist, egressOf?.(group.name)]);
    return createHash("sha256").update(inputs).digest("hex");
  }

  async plan(group: Group, session: Session) {
    const prepared = await this.#prepare(group, session);
    const refusedMounts = prepared.verdicts.flatMap((verdict) =>
      verdict.verdict === "denied" ? [`${verdict.target}: ${verdict.reason}`] : [],
    );
    return {
      uid: prepared.user.uid,
      refusedMounts,
      start: (generation: number, mailFolder: string) =>
        this.#start(prepared, { group, session, generation, mailFolder }),
    };
  }

  /** Containers that carry this home's label, whatever made them. */
  async found() {
    const summaries = await this.#parts.engine.list({ [labels.instance]: this.#parts.instance });
    return summaries.map((summary) => this.#describe(summary));
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
      remove: () => this.#parts.engine.remove(summary.id),
    };
  }

  async #adopt(
    summary: ContainerSummary,
    life: { group: Group; session: Session; generation: number; mailFolder: string },
  ): Promise<LaunchedContainer | string> {
    const { engine } = this.#parts;
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
    });
  }

  async #prepare(group: Group, session: Session): Promise<Prepared> {
    const { mountContext, instance, sandbox, globalFolder } = this.#parts;
    const image = await this.#parts.image();
    const { hostUid } = mountContext;
    const judged = await judgeMounts(group.mounts, mountContext);
    const settled = settleMounts(judged, { ordinal: await this.#parts.ordinal(group.name), instance, hostUid });
    const { user, granted, verdicts } = settled;
    this.#granted.set(group.name, granted);
    if (verdicts.length > 0) {
      const data = {
        mounts: verdicts.map(({ source, target, verdict, reason }) => ({ source, target, verdict, reason })),
      };
      await this.#parts.record({ type: "mount-verdict", group: group.name, session: session.id, data });
    }
    const groupFolder = await this.#parts.groupFolder(group, user);
    const egress = await this.#parts.openEgress?.(group.name);
    const specOf: Prepared["specOf"] = (generation, mailFolder) => {
      const mail = {
        toAgent: join(mailFolder, mailboxFolders.toAgent),
        toHost: join(mailFolder, mailboxFolders.toHost),
      };
      const folders = { group: groupFolder, global: globalFolder, ...mail };
      return containerSpec({
        image,
        user,
        instance,
        group: group.name,
        session: session.id,
        generation,
        sandbox,
        folders,
        granted,
        egress,
      });
    };
    return { ...settled, image, specOf };
  }

  async #start(
    prepared: Prepared,
    life: { group: Group; session: Session; generation: number; mailFolder: string },
  ): Promise<LaunchedContainer> {
    const { engine, record } = this.#parts;
    const { name, body, hash } = prepared.specOf(life.generation, life.mailFolder);
    const about = { group: life.group.name, session: life.session.id };
    for (const mount of prepared.granted) {
      const change = await recheckMount(mount);
      if (change !== undefined) throw new AppError("mount_denied", change);
    }
    const mounts = prepared.granted.map(({ realPath, target, verdict }) => ({ realPath, target, verdict }));
    const bodyHash = createHash("sha256").update(JSON.stringify(body)).digest("hex");
    const data = { name, spec: hash, body: bodyHash, image: prepared.image.id, uid: prepared.user.uid, mounts };
    await record({ type: "container-create", ...about, data });
    const id = await engine.create(name, body);
    let launched: LaunchedContainer | undefined;
    try {
      const begin = { type: "container-start", ...about, data: { name, container: id } } as const;
      const [output] = await Promise.all([engine.attach(id), record(begin)]);
      pourOutput(output, this.#parts.output(about.session, about.group));
      const { generation, mailFolder } = life;
      const parts = {
        engine,
        id,
        name,
        body,
        generation,
        mailFolder,
        uid: prepared.user.uid,
        granted: prepared.granted,
      };
      launched = new LaunchedContainer(parts);
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
