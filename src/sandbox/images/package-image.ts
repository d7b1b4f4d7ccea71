import { isDeepStrictEqual, stripVTControlCharacters } from "node:util";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";

import { AppError, toError } from "../../lib/app-error.ts";
import { mebibyte } from "../../lib/text/bytes.ts";
import { visible } from "../../lib/text/visible.ts";
import type { ContainerEngine } from "../engine/engine.ts";
import type { ImageBuilder } from "../engine/image-builder.ts";
import { contentsFault, type ImageContents, readContents } from "./image-contents.ts";
import type { Mirrors } from "./mirrors.ts";
import { certificatesName, packageDockerfile, type PackageImageName, packageLabels } from "./package-recipe.ts";

/** An image as the engine describes it. */
export type EngineImage = NonNullable<Awaited<ReturnType<ContainerEngine["image"]>>>;

/** Bounds on one build; a package that needs more is not for a container of an agent. */
export const packageBuildLimits = { minutes: 30, memoryMb: 4096, addedMb: 4096 } as const;

export interface PackageBuildOptions {
  readonly engine: Pick<ContainerEngine, "image">;
  readonly builder: ImageBuilder;
  readonly mirrors: Mirrors;
  /** Contents of the agent image, shared by all builds on it. */
  readonly baseContents: () => Promise<ImageContents>;
  readonly progress: (line: string) => void;
  readonly signal: AbortSignal;
}

/** The image of that name, if the engine has it: one that was looked at when it was made. */
export async function findPackageImage(
  engine: Pick<ContainerEngine, "image">,
  { tag, hash }: Pick<PackageImageName, "tag" | "hash">,
): Promise<EngineImage | undefined> {
  const image = await engine.image(tag);
  return image?.labels[packageLabels.hash] === hash ? image : undefined;
}

/**
 * Installs the packages on top of the agent image. What comes of it gets its name only after a look at it from outside:
 * a package that has changed the agent's program, or brings special rights, is refused. Throws an AppError with the
 * line that says why.
 */
export async function buildPackageImage(
  name: PackageImageName,
  { engine, builder, mirrors, baseContents, progress, signal }: PackageBuildOptions,
): Promise<EngineImage> {
  const doubtful = `${name.tag}-unchecked`;
  const limit = AbortSignal.timeout(packageBuildLimits.minutes * 60_000);
  const life = AbortSignal.any([signal, limit]);
  const base = await needImage(engine, name.base);
  try {
    await runBuild(name, { builder, mirrors, progress, signal: life }, doubtful);
    const made = await needImage(engine, doubtful);
    await refuseChanged({ name, base, made }, { builder, baseContents, signal: life });
    await builder.tag(made.id, name.tag);
    return made;
  } catch (thrown) {
    if (!signal.aborted && limit.aborted) throw tooLong(name, toError(thrown));
    throw toError(thrown);
  } finally {
    await builder.remove(doubtful).catch(() => false);
  }
}

/** The line of a failed build that says why: that of the program that installs, if it has one. */
export function failingLine(error: Error): string {
  const [first = "", ...lines] = stripVTControlCharacters(error.message)
    .split("\n")
    .map((line) => line.trim());
  const telling = lines.find((line) => /^(?:E: |ERROR: |npm (?:error|ERR!) (?!code |A complete))/.test(line));
  return visible((telling ?? first).slice(0, 400));
}

async function runBuild(
  name: PackageImageName,
  { builder, mirrors, progress, signal }: Pick<PackageBuildOptions, "builder" | "mirrors" | "progress" | "signal">,
  tag: string,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "crabpot-packages-"));
  try {
    await writeFile(join(folder, "Dockerfile"), packageDockerfile(name, mirrors));
    if (mirrors.certificates !== "") await writeFile(join(folder, certificatesName), mirrors.certificates);
    const labels = {
      [packageLabels.hash]: name.hash,
      [packageLabels.base]: name.base,
      [packageLabels.lists]: JSON.stringify(name.lists),
    };
    const { default: tar } = await import("tar-fs");
    const archive = tar.pack(folder, {
      map: (header) => ({ ...header, uid: 0, gid: 0, mode: 0o644, mtime: new Date(0) }),
    });
    const { memoryMb } = packageBuildLimits;
    const options = { tag, labels, buildArguments: mirrors.variables, memoryMb, signal };
    await builder.build(Readable.from(archive), options, progress);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Made {
  readonly name: PackageImageName;
  readonly base: EngineImage;
  readonly made: EngineImage;
}

async function refuseChanged(
  { name, base, made }: Made,
  { builder, baseContents, signal }: Pick<PackageBuildOptions, "builder" | "baseContents" | "signal">,
): Promise<void> {
  const key = fieldsThatAct.find((field) => !isDeepStrictEqual(base.config[field], made.config[field]));
  if (key !== undefined) throw refusal(`they change ${key} of the image`);
  const listed = await builder.list(packageLabels.hash);
  const bytes = listed.find(({ id }) => id === made.id)?.bytes ?? 0;
  const added = Math.ceil(bytes / mebibyte) - Math.floor((await sizeOf(builder, name.base)) / mebibyte);
  const { addedMb } = packageBuildLimits;
  if (added > addedMb) throw refusal(`they take ${added} MB, and at most ${addedMb} MB are kept`);
  const fault = contentsFault(await baseContents(), await builder.read(made.id, readContents, signal));
  if (fault !== undefined) throw refusal(`they ${fault}`);
}

/** Fields of an image's configuration that affect a container. */
const fieldsThatAct = [
  "User",
  "Env",
  "Entrypoint",
  "Cmd",
  "WorkingDir",
  "Volumes",
  "ExposedPorts",
  "Healthcheck",
  "OnBuild",
  "StopSignal",
  "Shell",
] as const;

async function sizeOf(builder: ImageBuilder, id: string): Promise<number> {
  const images = await builder.list("crabpot.inputs");
  return images.find((image) => image.id === id)?.bytes ?? 0;
}

function refusal(why: string): AppError {
  return new AppError("engine_refused", `The packages are not used: ${why}.`);
}

function tooLong({ tag }: PackageImageName, cause: Error): AppError {
  const { minutes } = packageBuildLimits;
  return new AppError("engine_refused", `Building ${tag} took longer than ${minutes} minutes.`, { cause });
}

async function needImage(engine: Pick<ContainerEngine, "image">, reference: string): Promise<EngineImage> {
  const image = await engine.image(reference);
  if (image) return image;
  throw new AppError("image_missing", `The container engine does not have the image ${reference}.`, {
    fix: "npm run setup",
  });
}

/** Reads what packages may not change in an agent image; once for each. */
export function readBaseOnce(builder: () => Promise<ImageBuilder>): (id: string) => Promise<ImageContents> {
  const known = new Map<string, Promise<ImageContents>>();
  return (id) => {
    const reading =
      known.get(id) ?? builder().then((opened) => opened.read(id, readContents, AbortSignal.timeout(readMs)));
    known.set(id, reading);
    reading.catch(() => known.delete(id));
    return reading;
  };
}

/** Half a gigabyte, on a machine that is busy. */
const readMs = 10 * 60_000;
