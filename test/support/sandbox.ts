import { chmod, chown, mkdir, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

import { findAgentImage } from "../../src/sandbox/images/agent-image.ts";
import { readHostView } from "../../src/sandbox/attestation/host.ts";
import { ContainerCgroups } from "../../src/sandbox/cgroups/container-cgroups.ts";
import { attest } from "../../src/sandbox/attestation/attestation.ts";
import { openEngine } from "../../src/sandbox/engine/catalog.ts";
import type { ContainerEngine, ContainerExit, CreateBody } from "../../src/sandbox/engine/engine.ts";
import type { MountGrant } from "../../src/sandbox/mounts/rules.ts";
import type { ProtectedFile } from "../../src/domain/rights/protected-file.ts";
import type { ContainerUser } from "../../src/sandbox/profile/profile.ts";
import { containerSpec, type ContainerFolders, type ContainerWish } from "../../src/sandbox/launch/spec.ts";
import { probeReport } from "../../src/protocol/messages.ts";
import { containerPaths } from "../../src/protocol/paths.ts";
import { noteContainer } from "./made-by-tests.ts";
import { onDisk, temporaryFolder } from "./temporary-folder.ts";

/** A body changed as a test wants it. */
export type Change = (body: CreateBody) => CreateBody;

/** Changes fields of the body's `HostConfig`. */
export function withHostConfig(fields: Readonly<Record<string, unknown>>): Change {
  return (body) => ({ ...body, HostConfig: { ...(body["HostConfig"] as object), ...fields } });
}

const checkout = fileURLToPath(new URL("../..", import.meta.url));
const user: ContainerUser = { uid: 345_678, gid: 345_678 };

/**
 * Prints the probe's report, then stays, so that it can be looked at from outside as well. A shell would add variables.
 */
const probeAndStay = [
  "python3",
  "-c",
  `import subprocess, time; subprocess.run(["python3", "${containerPaths.probe}"]); time.sleep(600)`,
];

/** The folders of one group and containers of the real agent image, made from the real profile. Needs an engine. */
export class Sandbox implements AsyncDisposable {
  readonly engine: ContainerEngine;
  readonly folder: string;
  readonly wish: ContainerWish;
  readonly #stack: AsyncDisposableStack;
  #containers = 0;

  private constructor(engine: ContainerEngine, folder: string, wish: ContainerWish, stack: AsyncDisposableStack) {
    this.engine = engine;
    this.folder = folder;
    this.wish = wish;
    this.#stack = stack;
  }

  /** `instructions`: what its AGENTS.md says; absent: it has none. */
  static async open({ instructions }: { readonly instructions?: string } = {}): Promise<Sandbox> {
    await using stack = new AsyncDisposableStack();
    const engine = stack.use(await openEngine({ env: process.env, homeFolder: homedir() }));
    const { path } = stack.use(await temporaryFolder(onDisk));
    const image = await engine.image((await findAgentImage(engine, checkout)).id);
    if (image === undefined) throw new Error("The agent image is gone.");
    const wish: ContainerWish = {
      image,
      user,
      instance: "0123456789abcdef",
      group: "family",
      session: `test${process.pid}`,
      generation: 1,
      sandbox: { runtime: "runc", memoryMb: 256, cpus: 1, pids: 128 },
      folders: await makeFolders(path),
      protectedFiles: instructions === undefined ? [] : [await makeInstructions(path, instructions)],
      granted: [],
    };
    return new Sandbox(engine, path, wish, stack.move());
  }

  /** The body as it would be sent, but for its command. */
  body(command: readonly string[], granted: readonly MountGrant[] = []): CreateBody {
    return { ...containerSpec({ ...this.wish, granted }).body, Cmd: command };
  }

  /** Creates and starts a container, attached; it is removed with the sandbox. */
  async start(body: CreateBody): Promise<{ id: string; lines: AsyncIterator<string> }> {
    const { id, output } = await this.#create(body);
    const lines = createInterface({ input: output })[Symbol.asyncIterator]();
    await this.engine.start(id);
    return { id, lines };
  }

  /** Runs a command to its end. Its standard error is part of the output. */
  async run(command: readonly string[], change: Change = (body) => body): Promise<ContainerExit & { output: string }> {
    const { id, output } = await this.#create(change(this.body(command)));
    const said = text(output);
    await this.engine.start(id);
    const exit = await this.engine.waitForExit(id, AbortSignal.timeout(120_000));
    return { ...exit, output: await said };
  }

  /** Differences reported by attestation for a container made from a changed body. */
  async surprises(change: Change, granted: readonly MountGrant[] = []): Promise<string[]> {
    return this.surprisesOf(this.body([], granted), change, granted);
  }

  /** The same for another body; its command does not count. */
  async surprisesOf(meant: CreateBody, change: Change, granted: readonly MountGrant[] = []): Promise<string[]> {
    const body = { ...meant, Cmd: probeAndStay };
    const { id, lines } = await this.start(change(body));
    try {
      const report: unknown = JSON.parse(String((await lines.next()).value));
      const inspection = await this.engine.inspect(id);
      if (inspection === undefined) throw new Error("The container is gone.");
      const folders = granted.map((mount) => ({ ...mount, target: `${containerPaths.extra}/${mount.target}` }));
      const targets = folders.map((mount) => mount.target);
      const pid = pidOf(inspection);
      const hostView = await readHostView({ pid, cgroups: await ContainerCgroups.find(pid, id), targets });
      return attest({ inspection, body, probe: probeReport.parse(report), hostView, folders });
    } finally {
      await this.engine.remove(id);
    }
  }

  async #create(body: CreateBody): Promise<{ id: string; output: Awaited<ReturnType<ContainerEngine["attach"]>> }> {
    this.#containers += 1;
    const name = `crabpot-test-${process.pid}-${Date.now()}-${this.#containers}`;
    noteContainer(name);
    const id = await this.engine.create(name, body);
    this.#stack.defer(() => this.engine.remove(id));
    return { id, output: await this.engine.attach(id) };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

/** The number that the host's kernel gave to a running container's first process. */
export function pidOf(inspection: Readonly<Record<string, unknown>>): number {
  return (inspection["State"] as { Pid: number }).Pid;
}

/** Instructions as the host leaves them: its own copy, and a file in the group's folder that is mounted over. */
async function makeInstructions(folder: string, content: string): Promise<ProtectedFile> {
  const [source, covered] = [join(folder, "instructions.md"), join(folder, "group/AGENTS.md")];
  for (const path of [source, covered]) await writeFile(path, content, { mode: 0o644 });
  return { name: "AGENTS.md", source, sha256: "", mountPoint: "" };
}

async function makeFolders(folder: string): Promise<ContainerFolders> {
  const folders = {
    group: join(folder, "group"),
    global: join(folder, "global"),
    toAgent: join(folder, "to-agent"),
    toHost: join(folder, "to-host"),
  };
  for (const path of Object.values(folders)) await mkdir(path);
  // Only root can give a folder away; otherwise it is opened for all, in a folder that only its owner can enter.
  for (const path of [folders.group, folders.toHost]) {
    await chown(path, user.uid, user.gid).catch(() => chmod(path, 0o777));
  }
  return folders;
}
