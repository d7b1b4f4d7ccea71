import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chown, lstat, mkdir, readdir, readFile, readlink, rm, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";

import { MountLayer } from "../../src/sandbox/review/mount-layer.ts";
import { MountLayers } from "../../src/sandbox/review/mount-layers.ts";
import type { BeforeChange } from "../../src/sandbox/review/opened-folder.ts";
import type { ReviewLayer } from "../../src/sandbox/review/review-layer.ts";
import type { MountGrant } from "../../src/sandbox/mounts/rules.ts";
import { identifyFolder } from "../../src/sandbox/mounts/identity.ts";
import { pino } from "pino";

import { reviewVolume } from "../../src/sandbox/launch/spec.ts";
import type { HotContainerView } from "../../src/domain/turns/session.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { noteContainer } from "./made-by-tests.ts";
import type { Sandbox } from "./sandbox.ts";

const busy = { ...({} as HotContainerView), group: "family", state: "busy" as const };

/** A folder with review, and containers that work in it. Needs Docker. */
export class ReviewRig implements AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly real: string;
  readonly home: string;
  layers: MountLayers;
  #grant: MountGrant | undefined;
  /** Called before each change that a decision makes. */
  beforeChange: BeforeChange = () => undefined;
  isBusy = false;
  /** The group's configuration has the mount. */
  isMounted = true;

  readonly #instance: string;

  private constructor(sandbox: Sandbox, name: string, instance: string) {
    this.sandbox = sandbox;
    this.#instance = instance;
    this.real = join(sandbox.folder, `${name}/real`);
    this.home = join(sandbox.folder, `${name}/reviews`);
    this.layers = this.#open();
  }

  /** `name`: of this rig in the sandbox's folder. `instance`: of the home; that of all sandboxes by default. */
  static async open(sandbox: Sandbox, name: string, instance = sandbox.wish.instance): Promise<ReviewRig> {
    const rig = new ReviewRig(sandbox, name, instance);
    await mkdir(rig.real, { recursive: true });
    return rig;
  }

  /** Writes files of the operator's, by path; a path that ends in `/` is a folder. */
  async write(files: Readonly<Record<string, string>>): Promise<void> {
    const { uid, gid } = this.sandbox.wish.user;
    for (const [path, content] of Object.entries(files)) {
      const parts = path.split("/").slice(0, -1);
      for (const [index] of parts.entries()) {
        const folder = join(this.real, ...parts.slice(0, index + 1));
        await mkdir(folder, { recursive: true });
        await chown(folder, uid, gid);
      }
      if (path.endsWith("/")) continue;
      await writeFile(join(this.real, path), content);
      await chown(join(this.real, path), uid, gid);
    }
    await chown(this.real, uid, gid);
  }

  /** The mount as it is granted. */
  async grant(): Promise<MountGrant> {
    if (this.#grant) return this.#grant;
    const folder = await identifyFolder(this.real);
    if (typeof folder === "string") throw new Error(folder);
    this.#grant = { ...folder, source: this.real, target: "work", verdict: "review", reason: "" };
    return this.#grant;
  }

  /** The layer of the mount. */
  async layer(): Promise<ReviewLayer> {
    await this.layers.open("family", await this.grant());
    const [layer] = await this.layers.of("family");
    if (!(layer instanceof MountLayer)) throw new Error("There is no layer.");
    return layer;
  }

  /** Runs a script of the agent's in the mount; what it prints. */
  async agent(script: string): Promise<string> {
    const grant = await this.grant();
    const { engine } = this.sandbox;
    const { volume } = await this.layers.open("family", grant);
    const body = this.sandbox.body(["bash", "-c", script]);
    const hostConfig = body["HostConfig"] as { Mounts: object[] };
    const Mounts = [...hostConfig.Mounts, reviewVolume(volume, "/workspace/extra/work", false)];
    const name = `crabpot-test-${process.pid}-${randomUUID()}`;
    noteContainer(name);
    using _ = await this.layers.hold("family", [grant]);
    const wish = { ...body, WorkingDir: "/workspace/extra/work", HostConfig: { ...hostConfig, Mounts } };
    const id = await engine.create(name, wish);
    try {
      const said = text(await engine.attach(id));
      await engine.start(id);
      await engine.waitForExit(id, AbortSignal.timeout(120_000));
      return await said;
    } finally {
      await engine.remove(id);
    }
  }

  /** Begins anew with nothing in memory, as after the host's death. */
  restart(): void {
    this.beforeChange = () => undefined;
    this.layers = this.#open();
  }

  /** A copy of both sides as they are now, to begin from again with nothing in memory. */
  async copy(): Promise<{ restore(): Promise<void> } & AsyncDisposable> {
    const folder = await temporaryFolder();
    for (const name of ["real", "home"] as const) {
      await mkdir(join(folder.path, name));
      await copyAll(this[name], join(folder.path, name));
    }
    const restore = async (): Promise<void> => {
      for (const name of ["real", "home"] as const) {
        for (const entry of await readdir(this[name])) await rm(join(this[name], entry), { recursive: true });
        await copyAll(join(folder.path, name), this[name]);
      }
      this.restart();
    };
    return { restore, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.restart();
    const { volume } = await this.layers.open("family", await this.grant());
    await this.sandbox.engine.removeVolume(volume);
  }

  #open(): MountLayers {
    const { engine, wish } = this.sandbox;
    return new MountLayers({
      engine,
      instance: this.#instance,
      images: { imageOf: async () => wish.image },
      base: async () => wish.image,
      config: { sandbox: wish.sandbox },
      folder: this.home,
      pool: () => ({ list: () => (this.isBusy ? [busy] : []), stop: async () => true }),
      beforeChange: (change) => this.beforeChange(change),
      groups: {
        byName: () => ({ mounts: this.isMounted ? [{ source: this.real, target: "work", access: "review" }] : [] }),
      },
      homeFolder: "/nowhere",
      logger: pino({ level: "silent" }),
    });
  }
}

/** Copies with the marks of the kernel, which are devices and attributes. */
async function copyAll(from: string, to: string): Promise<void> {
  await promisify(execFile)("cp", ["-a", `${from}/.`, to]);
}

/** Decides as people do: with the digest of what they see now. */
export async function seen(layer: ReviewLayer, paths?: readonly string[]) {
  const { digest } = await layer.diff();
  return { paths, digest, record: async () => undefined };
}

/** Everything below a folder, by path: kind, bits, and content or target. */
export async function readTree(folder: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const facts = await lstat(path);
    const bits = (facts.mode & 0o7777).toString(8);
    const content = entry.isFile()
      ? await readFile(path, "latin1")
      : entry.isSymbolicLink()
        ? await readlink(path)
        : "";
    const kind = entry.isFile() ? "file" : entry.isDirectory() ? "folder" : entry.isSymbolicLink() ? "link" : "other";
    found[relative(folder, path)] = kind === "link" ? `link ${content}` : `${kind} ${bits} ${content}`;
  }
  return Object.fromEntries(Object.entries(found).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
