import { randomUUID } from "node:crypto";
import { once } from "node:events";

import * as z from "zod";

import { AppError } from "../../lib/app-error.ts";
import { mebibyte } from "../../lib/text/bytes.ts";
import { parseJson } from "../../lib/text/parse-json.ts";
import { reviewPaths } from "../../protocol/paths.ts";
import type { ContainerEngine, CreateBody } from "../engine/engine.ts";
import { bind, containerLabels as labels, type ImageFacts, reviewVolume, withoutImageNames } from "../launch/spec.ts";
import { type ContainerUser, hardenedHostConfig, hostName, type SandboxSize, searchPath } from "../profile/profile.ts";
import { refuseUnsafeReviewBody } from "../profile/refusals.ts";

const maxOutputBytes = 16 * mebibyte;
const timeoutMs = 120_000;

/** A container that looks at a mount with review: it has no network, no mailbox, and its user's rights alone. */
export interface LookWish {
  readonly engine: ContainerEngine;
  /** Names of the containers that are looking now. */
  readonly looking: Set<string>;
  readonly image: ImageFacts;
  readonly sandbox: SandboxSize;
  readonly instance: string;
  readonly group: string;
  readonly user: ContainerUser;
  /** The engine's volume that joins both. */
  readonly volume: string;
  /** Folders of the host. */
  readonly layer: string;
  readonly real: string;
}

/**
 * Options of a volume that joins folders of the host. Features of the kernel that store more than files and marks of
 * removal are off.
 */
export function volumeOptions(folders: { readonly real: string; readonly layer: string; readonly work: string }) {
  const { real, layer, work } = folders;
  const joined = `lowerdir=${real},upperdir=${layer},workdir=${work}`;
  return { type: "overlay", device: "overlay", o: `${joined},redirect_dir=off,metacopy=off,index=off,xino=off` };
}

const paths = z.array(z.base64()).transform((list) => new Set(list.map(decode)));
const answer = z.object({ open: paths, hiding: paths });

function decode(path: string): string {
  return Buffer.from(path, "base64").toString("latin1");
}

/**
 * Folders of a layer, by their paths in `latin1`, that show what the real folder has, and those that hide some of it:
 * the mark of such a folder is an attribute that only the kernel and root can read. A folder may be neither.
 */
export type LayerFolders = z.infer<typeof answer>;

/** Finds them by a look from inside. */
export async function findLayerFolders(wish: LookWish, signal?: AbortSignal): Promise<LayerFolders> {
  return answer.parse(parseJson(await lookInside(wish, "folders", signal)));
}

/** Runs the program in the container and returns its output; `try` writes through the volume. */
export async function lookInside(wish: LookWish, what: "folders" | "try", signal?: AbortSignal): Promise<string> {
  const { instance, looking } = wish;
  const body = bodyOf(wish, what);
  refuseUnsafeReviewBody(body);
  const life = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]);
  const name = `crabpot-${instance.slice(0, 8)}-look-${randomUUID()}`;
  looking.add(name);
  try {
    return await run(wish, { name, body }, life);
  } finally {
    looking.delete(name);
  }
}

async function run(
  { engine }: LookWish,
  { name, body }: { readonly name: string; readonly body: CreateBody },
  life: AbortSignal,
): Promise<string> {
  const id = await engine.create(name, body);
  try {
    const output = await engine.attach(id);
    const chunks: Buffer[] = [];
    let bytes = 0;
    output.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxOutputBytes) chunks.push(chunk);
    });
    const closed = once(output, "close", { signal: life });
    closed.catch(() => undefined);
    await engine.start(id);
    const { code } = await engine.waitForExit(id, life);
    await closed;
    if (code !== 0 || bytes > maxOutputBytes) {
      const said = Buffer.concat(chunks).toString().trim().split("\n").at(-1) ?? "";
      throw new AppError(
        "conflict",
        `The layer of a mount with review cannot be looked through: ${said.slice(0, 300)}`,
      );
    }
    return Buffer.concat(chunks).toString();
  } finally {
    await engine.remove(id);
  }
}

function bodyOf({ image, sandbox, instance, group, user, volume, layer, real }: LookWish, what: string): CreateBody {
  const environment = { PATH: searchPath, HOME: "/tmp", LANG: "C.UTF-8" };
  return {
    Image: image.id,
    User: `${user.uid}:${user.gid}`,
    Hostname: hostName,
    Env: withoutImageNames(image, environment),
    Entrypoint: [],
    Cmd: ["python3", "-I", reviewPaths.program, what],
    WorkingDir: "/",
    Healthcheck: { Test: ["NONE"] },
    Labels: { [labels.instance]: instance, [labels.group]: group },
    NetworkDisabled: true,
    AttachStdin: false,
    OpenStdin: false,
    Tty: false,
    StopSignal: "SIGTERM",
    StopTimeout: 2,
    HostConfig: {
      ...hardenedHostConfig(sandbox, user),
      Mounts: [
        bind(layer, reviewPaths.layer, true),
        bind(real, reviewPaths.real, true),
        reviewVolume(volume, reviewPaths.seen, what !== "try"),
      ],
    },
  };
}
