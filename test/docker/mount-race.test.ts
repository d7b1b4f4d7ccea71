import { spawn } from "node:child_process";
import { once } from "node:events";
import { chown, mkdir, readdir, rename, symlink, unlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";

import { afterAll, expect, test } from "vitest";

import { LaunchedContainer } from "../../src/sandbox/launch/launched-container.ts";
import { recheckMount } from "../../src/sandbox/mounts/identity.ts";
import { judgeMounts } from "../../src/sandbox/mounts/rules.ts";
import type { MountGrant } from "../../src/sandbox/mounts/rules.ts";
import { ContainerLauncher } from "../../src/sandbox/launch/launcher.ts";
import { AppError } from "../../src/lib/app-error.ts";
import { mailboxFolders } from "../../src/protocol/paths.ts";
import { pidOf, Sandbox } from "../support/sandbox.ts";
import { someGroup } from "../support/some-group.ts";

const sandbox = await Sandbox.open();
afterAll(() => sandbox[Symbol.asyncDispose]());

const canary = "canary-5d1f0c";
const rounds = 25;
const swapper = resolve(import.meta.dirname, "../fixtures/swapper.py");

type Outcome = "refused by the rules" | "refused before creation" | "refused after the start" | "mounted";

/** Swaps in a loop until disposed. */
async function startSwapping(place: string, ...options: readonly string[]): Promise<AsyncDisposable> {
  const child = spawn("python3", [swapper, place, ...options], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  return {
    [Symbol.asyncDispose]: async () => {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** A container from the judged folder, up to the point from which its agent would be spoken to. */
async function tryMount(judge: () => Promise<MountGrant | undefined>): Promise<[Outcome, string]> {
  const grant = await judge();
  if (grant === undefined) return ["refused by the rules", ""];
  if ((await recheckMount(grant)) !== undefined) return ["refused before creation", ""];
  const granted = [grant];
  const body = sandbox.body(["sh", "-c", "echo started; sleep 600"], granted);
  const { id } = await sandbox.start(body).catch(() => ({ id: "" }));
  // The engine itself could not find the folder.
  if (id === "") return ["refused after the start", ""];
  await using launched = new LaunchedWithEnd(id, body, granted);
  const surprises = await launched.container.attest(undefined);
  if (surprises.some((sentence) => /judged|checked/.test(sentence))) return ["refused after the start", ""];
  expect(surprises).toEqual([]);
  return ["mounted", await launched.list(`/workspace/extra/${grant.target}`)];
}

class LaunchedWithEnd implements AsyncDisposable {
  readonly container: LaunchedContainer;

  constructor(id: string, body: ReturnType<Sandbox["body"]>, granted: readonly MountGrant[]) {
    const { engine } = sandbox;
    const parts = { engine, id, body, granted, name: "race", generation: 1, uid: 345_678, mailFolder: "" };
    this.container = new LaunchedContainer(parts);
  }

  /** Names that its processes see at a place. */
  async list(target: string): Promise<string> {
    const inspection = await sandbox.engine.inspect(this.container.id);
    return (await readdir(`/proc/${pidOf(inspection ?? {})}/root${target}`)).join(" ");
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.container.remove();
  }
}

test("a source that is exchanged in a loop is mounted as it was judged or not at all: the forbidden folder is never seen", async () => {
  const home = join(sandbox.folder, "race-home");
  const place = join(home, "projects/app");
  const secret = join(home, "secret");
  for (const path of [place, `${place}.other`, secret, join(home, "settings")]) await mkdir(path, { recursive: true });
  await writeFile(join(place, "judged.txt"), "");
  await writeFile(join(`${place}.other`, "other.txt"), "");
  await writeFile(join(secret, canary), "");
  await symlink(secret, `${place}.link`);
  await chown(place, 345_678, 345_678).catch(() => undefined);
  const allowlistPath = join(home, "settings/mounts.json");
  const roots = [{ path: join(home, "projects"), access: "ro" }];
  await writeFile(allowlistPath, JSON.stringify({ roots }), { mode: 0o600 });
  const hostUid = process.getuid?.() ?? 0;
  const own = { crabpotHome: join(home, "settings"), checkout: join(sandbox.folder, "checkout") };
  const judgeNow = async (): Promise<MountGrant | undefined> => {
    const context = { allowlistPath, homeFolder: home, hostUid, ...own };
    const [verdict] = await judgeMounts([{ source: place, target: "app", access: "ro" }], context);
    return verdict === undefined || verdict.verdict === "denied" ? undefined : verdict;
  };
  const judged = await judgeNow();
  expect(judged).toBeDefined();

  const seen: { outcome: Outcome; listing: string; inPeace: boolean }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    // Judged in peace, so that each round gets to the engine; or in the middle of it.
    const inPeace = round % 5 !== 4;
    await using stack = new AsyncDisposableStack();
    stack.use(await startSwapping(place));
    const [outcome, listing] = await tryMount(inPeace ? () => Promise.resolve(judged) : judgeNow);
    seen.push({ outcome, listing, inPeace });
  }

  const mounted = seen.filter(({ outcome }) => outcome === "mounted");
  expect(mounted.filter(({ listing }) => listing.includes(canary))).toEqual([]);
  // The other folder is allowed where it is; but it is not the one that was judged before.
  expect(mounted.filter(({ inPeace, listing }) => inPeace && listing !== "judged.txt")).toEqual([]);
  expect(mounted.length).toBeLessThan(rounds);
});

test("a start that fails because a source is exchanged meanwhile says that it was, and nothing of the engine's", async () => {
  const home = join(sandbox.folder, "swap-home");
  const place = join(home, "projects/app");
  for (const path of [place, `${place}.other`, join(home, "secret"), join(home, "settings")])
    await mkdir(path, { recursive: true });
  await symlink(join(home, "secret"), `${place}.link`);
  const allowlistPath = join(home, "settings/mounts.json");
  await writeFile(allowlistPath, JSON.stringify({ roots: [{ path: join(home, "projects"), access: "ro" }] }), {
    mode: 0o600,
  });
  const { folders, image, instance, session } = sandbox.wish;
  const mount = { source: place, target: "app", access: "ro", shared: false, protect: [] } as const;
  const group = someGroup("swapped", { mounts: [mount] });
  const launcher = new ContainerLauncher({
    engine: sandbox.engine,
    image: () => Promise.resolve(image),
    instance,
    sandbox: sandbox.wish.sandbox,
    mountContext: {
      allowlistPath,
      homeFolder: home,
      hostUid: process.getuid?.() ?? 0,
      crabpotHome: join(home, "settings"),
      checkout: join(sandbox.folder, "checkout"),
    },
    groups: [group],
    groupFolder: () => Promise.resolve(folders.group),
    protectedFiles: () => Promise.resolve([]),
    globalFolder: folders.global,
    ordinal: () => Promise.resolve(0),
    output: () => ({ push: () => undefined, end: () => undefined }),
    // Behind the last look before the engine has its turn.
    publish: async ({ type }) => {
      if (type === "container.created") swapping.use(await startSwapping(place, "--gone"));
    },
  });
  let swapping = new AsyncDisposableStack();
  const life = { id: session, key: "k", kind: "main", group: group.name, conversation: 1, generation: 0 } as const;
  const errors: unknown[] = [];
  for (let generation = 1; generation <= 16; generation += 1) {
    const mail = join(sandbox.folder, `mail-${generation}`);
    for (const side of Object.values(mailboxFolders)) await mkdir(join(mail, side), { recursive: true });
    const plan = await launcher.plan(group, { ...life, contextCursor: 0, windowStart: 0, clearedBefore: 0 });
    await plan.start(generation, mail).then(
      (container) => container.remove(),
      (error: unknown) => errors.push(error),
    );
    await swapping[Symbol.asyncDispose]();
    swapping = new AsyncDisposableStack();
    // Where it was ended in the middle, the link or nothing is there.
    await unlink(place).catch(() => undefined);
    await rename(`${place}.other.kept`, place).catch(() => undefined);
  }

  expect(errors.length).toBeGreaterThan(0);
  expect(errors.map((error) => (error instanceof AppError ? error.code : String(error)))).toEqual(
    errors.map(() => "mount_denied"),
  );
});
