import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { build } from "esbuild";
import { pack } from "tar-fs";
import { agentImagePath } from "../../src/sandbox/images/agent-image.ts";
import { encodeMessage } from "../../src/protocol/mailbox-file.ts";
import { protocolVersion } from "../../src/protocol/version.ts";
import { mailboxFolders, messageFileName } from "../../src/protocol/paths.ts";
import { AppError } from "../../src/lib/app-error.ts";
import { readRecipe, type SetupContext } from "./recipe.ts";
import { say } from "./say.ts";

const repository = "crabpot-agent";
const inputsLabel = "crabpot.inputs";

/** Inputs of the image: paths in the build context, and bytes. */
type Inputs = ReadonlyMap<string, Uint8Array>;

/**
 * Builds the checkout's agent image if missing and records it. It is named by a hash of its inputs. Removes images that
 * no checkout and no container uses. Returns a description.
 */
export async function ensureAgentImage(context: SetupContext, baseId: string): Promise<string> {
  const inputs = await collectInputs(context);
  const hash = hashOf(inputs, baseId);
  const tag = `${repository}:${hash.slice(0, 16)}`;
  const isBuilt = (await context.engine.image(tag))?.labels[inputsLabel] === hash;
  if (!isBuilt) {
    say(`agent image: building ${tag} …`);
    await buildImage(context, inputs, { tag, baseId, hash });
  }
  const image = await context.engine.image(tag);
  if (!image) throw new AppError("setup_required", `The engine has built ${tag}, but does not find it.`);
  await writeRecord(context.checkoutFolder, { tag, id: image.id, inputs: hash });
  await context.builder.tag(image.id, checkoutTag(context.checkoutFolder));
  const removed = await removeUnused(context);
  const words = [`${tag} ${isBuilt ? "is up to date" : "built"}`, ...removed.map((old) => `removed ${old}`)];
  return words.join(", ");
}

async function collectInputs({ checkoutFolder, env }: SetupContext): Promise<Inputs> {
  const recipe = await readRecipe(checkoutFolder);
  const inputs = new Map<string, Uint8Array>([
    ["Dockerfile", Buffer.from(withPackages(recipe.text, env["CRABPOT_IMAGE_PACKAGES"] ?? ""))],
    ["agent.cjs", await bundle(checkoutFolder, "container/agent/main.ts")],
    ["browser.cjs", await bundle(checkoutFolder, "container/agent/browser/driver.ts")],
    ["reader.cjs", await bundle(checkoutFolder, "container/reader/main.ts")],
    ["plugin.mjs", await bundle(checkoutFolder, "container/plugin/main.ts", "esm")],
  ]);
  inputs.set(...messageToEnd());
  const imageFolder = join(checkoutFolder, "container", "image");
  const names = await readdir(imageFolder);
  for (const name of names.toSorted()) inputs.set(`image/${name}`, await readFile(join(imageFolder, name)));
  return inputs;
}

/** A message for the agent's first run, in which the image is built: see Dockerfile.agent. */
function messageToEnd(): [path: string, content: Uint8Array] {
  const about = { version: protocolVersion, id: 1, generation: 0, acked: 0 } as const;
  const encoded = encodeMessage({ ...about, payload: { type: "shutdown" } });
  if (!encoded.ok) throw new AppError("setup_required", encoded.reason);
  return [`mail/${mailboxFolders.toAgent}/${messageFileName(about.id)}`, Buffer.from(encoded.text)];
}

/**
 * The recipe with Debian packages that the operator wants besides; they get into the image, not into the base that it
 * is made from.
 */
function withPackages(text: string, wanted: string): string {
  const names = wanted.split(/[\s,]+/).filter((name) => name !== "");
  // Debian Policy 5.6.1; anything else would be a word of the shell that installs them.
  const wrong = names.find((name) => !/^[a-z0-9][a-z0-9+.-]+$/.test(name));
  if (wrong !== undefined) {
    throw new AppError(
      "setup_required",
      `CRABPOT_IMAGE_PACKAGES: ${JSON.stringify(wrong)} is not the name of a package.`,
      {
        fix: 'Write names of Debian packages, such as CRABPOT_IMAGE_PACKAGES="ffmpeg pandoc".',
      },
    );
  }
  if (names.length === 0) return text;
  return text.replace(/^(ARG PACKAGES="?[^"\n]+)/m, `$1 ${[...new Set(names)].toSorted().join(" ")}`);
}

/**
 * A program as one file that needs nothing but Node, and Playwright where that is driven. `esm`: for what others
 * import.
 */
async function bundle(checkoutFolder: string, entry: string, format: "cjs" | "esm" = "cjs"): Promise<Uint8Array> {
  const result = await build({
    absWorkingDir: checkoutFolder,
    entryPoints: [entry],
    bundle: true,
    platform: "node",
    target: "node24",
    // Only `cjs` can be kept compiled: see container/image/start.cjs.
    format,
    // Half the bytes to read and compile at each start; names stay, for traces.
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: "none",
    // Draws pictures for pages that are shown; the reader does without it.
    external: ["canvas"],
    write: false,
    logLevel: "silent",
  });
  const [file] = result.outputFiles;
  if (!file) throw new AppError("setup_required", `esbuild produced no bundle of ${entry}.`);
  return Buffer.from(format === "cjs" ? withLateModules(file.text) : file.text);
}

/** Slow Node modules needed only after the agent is ready: loaded on first use. */
const lateModules = /=require\(("node:(?:crypto|fs\/promises|readline)")\)/g;
const late = '"use strict";const late=(name)=>new Proxy({},{get:(_,key)=>require(name)[key]});';

function withLateModules(text: string): string {
  return late + text.replace(lateModules, "=late($1)");
}

/** Lengths are hashed too, so that bytes cannot move from one input to the next. */
function hashOf(inputs: Inputs, baseId: string): string {
  const hash = createHash("sha256").update(`${baseId}\n`);
  for (const [name, bytes] of inputs) hash.update(`${name}\n${bytes.length}\n`).update(bytes);
  return hash.digest("hex");
}

async function buildImage(
  { builder, env }: SetupContext,
  inputs: Inputs,
  { tag, baseId, hash }: { tag: string; baseId: string; hash: string },
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "crabpot-image-"));
  try {
    for (const [name, bytes] of inputs) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), bytes);
    }
    // The same bytes on every machine, whoever runs set-up and with whichever umask, so that layers are reused.
    const archive = pack(folder, {
      map: (header) => ({
        ...header,
        uid: 0,
        gid: 0,
        mode: header.type === "directory" ? 0o755 : 0o644,
        mtime: new Date(0),
      }),
    });
    const buildArguments = { ...proxies(env), BASE_IMAGE: baseId };
    const options = { tag, labels: { [inputsLabel]: hash }, buildArguments };
    await builder.build(Readable.from(archive), options, (line) => {
      if (/^Step|^[EW]:|rror/.test(line)) say(`  ${line.split("    ", 1)[0]}`);
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The engine knows these as build arguments and does not keep them in the image. */
function proxies(env: SetupContext["env"]): Record<string, string> {
  const names = ["http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"];
  const pairs = names.map((name) => [name, env[name]] as const);
  return Object.fromEntries(pairs.filter((pair): pair is readonly [string, string] => Boolean(pair[1])));
}

/** The second name of an image: that this checkout uses it. Moves to the next image when that is built. */
function checkoutTag(checkoutFolder: string): string {
  return `${repository}:checkout-${createHash("sha256").update(checkoutFolder).digest("hex").slice(0, 16)}`;
}

async function removeUnused({ builder }: SetupContext): Promise<string[]> {
  const removed: string[] = [];
  for (const { tags } of await builder.list(inputsLabel)) {
    const [tag, ...others] = tags;
    const isOurs = tag !== undefined && /^crabpot-agent:[0-9a-f]{16}$/.test(tag) && others.length === 0;
    if (isOurs && (await builder.remove(tag))) removed.push(tag);
  }
  return removed;
}

/** Renamed into place: a host that starts at this moment reads the old record or the new one. */
async function writeRecord(checkoutFolder: string, record: { tag: string; id: string; inputs: string }): Promise<void> {
  const path = agentImagePath(checkoutFolder);
  const temporary = `${path}.${process.pid}`;
  await mkdir(dirname(path), { recursive: true });
  await writeFile(temporary, `${JSON.stringify(record, undefined, 2)}\n`);
  await rename(temporary, path);
}
