import type { Readable } from "node:stream";
import type Docker from "dockerode";
import { AppError } from "../../../lib/app-error.ts";
import { mebibyte } from "../../../lib/text/bytes.ts";
import type { BuildOptions, ImageBuilder, ListedImage, OnBuildLine } from "../image-builder.ts";
import type { EngineAddress } from "./address.ts";
import { EngineClient, pathSegment, refusalStatus } from "./engine-client.ts";

interface ProgressEvent {
  readonly stream?: string;
  readonly status?: string;
  readonly id?: string;
  readonly error?: string;
}

type Ask<T> = (docker: Docker) => Promise<T>;

/** On a container that is there to be read, with the image's id. */
const readLabel = "crabpot.reads-image";

/** Image building through Docker's API, with the builder that every engine of that API has. */
export class DockerImageBuilder implements ImageBuilder {
  readonly #client: EngineClient;

  constructor(address: EngineAddress) {
    this.#client = new EngineClient(address);
  }

  async pull(reference: string, stallLimitMs: number, progress: OnBuildLine): Promise<void> {
    const [name = reference, digest] = reference.split("@");
    const tagAt = name.lastIndexOf(":") > name.lastIndexOf("/") ? name.lastIndexOf(":") : name.length;
    const tag = digest ?? (name.slice(tagAt + 1) || "latest");
    const pull: Ask<NodeJS.ReadableStream> = (docker) => docker.createImage({ fromImage: name.slice(0, tagAt), tag });
    const stalled = new AbortController();
    const stall = new AppError("engine_unavailable", `Pulling ${reference}: no progress for ${stallLimitMs / 1000} s.`);
    const timer = setTimeout(() => stalled.abort(stall), stallLimitMs);
    try {
      await this.#follow(`pull ${reference}`, stalled.signal, pull, (line) => {
        timer.refresh();
        progress(line);
      });
    } finally {
      clearTimeout(timer);
    }
  }

  async importRoot(archive: Readable, tag: string): Promise<void> {
    const [repo, name] = tag.split(":");
    const importing: Ask<NodeJS.ReadableStream> = (docker) =>
      docker.importImage(archive, { repo: repo ?? tag, tag: name ?? "latest" });
    await this.#send(`import ${tag}`, archive, importing, { progress: () => {} });
  }

  async build(archive: Readable, options: BuildOptions, progress: OnBuildLine): Promise<void> {
    const { tag: t, labels, buildArguments: buildargs, memoryMb, signal } = options;
    const memory = memoryMb === undefined ? {} : { memory: memoryMb * mebibyte, memswap: memoryMb * mebibyte };
    const wish = { t, labels: { ...labels }, buildargs: { ...buildargs }, rm: true, forcerm: true, ...memory };
    const building: Ask<NodeJS.ReadableStream> = (docker) => docker.buildImage(archive, wish);
    await this.#send(`build ${t}`, archive, building, { progress, signal });
  }

  async tag(id: string, tag: string): Promise<void> {
    const [repo = tag, name = "latest"] = tag.split(":");
    await this.#ask(`tag ${id} as ${tag}`, (docker) => docker.getImage(pathSegment(id)).tag({ repo, tag: name }));
  }

  async list(label: string): Promise<ListedImage[]> {
    const images = await this.#ask("list images", (docker) => docker.listImages({ filters: { label: [label] } }));
    return images.map(({ Id, RepoTags, Labels, Size, Created }) => ({
      id: Id,
      tags: RepoTags ?? [],
      labels: { ...(Labels as Record<string, string> | null) },
      bytes: Size,
      createdAt: Created * 1000,
    }));
  }

  async read<Answer>(id: string, look: (archive: Readable) => Promise<Answer>, signal: AbortSignal): Promise<Answer> {
    const action = `read image ${id}`;
    const label = `${readLabel}=${id}`;
    const left = await this.#ask(action, (docker) => docker.listContainers({ all: true, filters: { label: [label] } }));
    for (const { Id } of left) await this.#removeContainer(Id);
    const wish = { Image: id, Cmd: ["none"], Labels: { [readLabel]: id }, NetworkDisabled: true };
    const container = await this.#ask(action, (docker) => docker.createContainer(wish));
    try {
      const archive = await this.#client.ask(action, signal, (docker) => docker.getContainer(container.id).export());
      return await look(archive as Readable);
    } finally {
      await this.#removeContainer(container.id);
    }
  }

  async #removeContainer(id: string): Promise<void> {
    try {
      await this.#ask(`remove container ${id}`, (docker) =>
        docker.getContainer(pathSegment(id)).remove({ force: true }),
      );
    } catch (thrown) {
      if (![404, 409].includes(refusalStatus(thrown) ?? 0)) throw thrown;
    }
  }

  async remove(tag: string): Promise<boolean> {
    try {
      await this.#ask(`remove image ${tag}`, (docker) => docker.getImage(pathSegment(tag)).remove());
      return true;
    } catch (thrown) {
      if ([404, 409].includes(refusalStatus(thrown) ?? 0)) return false;
      throw thrown;
    }
  }

  #ask<T>(action: string, ask: Ask<T>): Promise<T> {
    return this.#client.ask(action, AbortSignal.timeout(60_000), ask);
  }

  /** Sends an archive, and ends the reading of it whatever comes. */
  async #send(
    action: string,
    archive: Readable,
    ask: Ask<NodeJS.ReadableStream>,
    { progress, signal }: { readonly progress: OnBuildLine; readonly signal?: AbortSignal | undefined },
  ): Promise<void> {
    try {
      await this.#follow(action, signal ?? new AbortController().signal, ask, progress);
    } finally {
      archive.destroy();
    }
  }

  async #follow(
    action: string,
    signal: AbortSignal,
    ask: Ask<NodeJS.ReadableStream>,
    progress: OnBuildLine,
  ): Promise<void> {
    const answer = await this.#client.ask(action, signal, ask);
    const lastLines: string[] = [];
    try {
      for await (const event of progressEvents(answer)) {
        if (event.error !== undefined) {
          const words = [`The container engine could not ${action}: ${event.error.trim()}`, ...lastLines];
          throw new AppError("engine_refused", words.join("\n  "));
        }
        const line = [event.id, event.stream ?? event.status].filter(Boolean).join(" ").trim();
        if (line === "") continue;
        if (lastLines.push(line) > 15) lastLines.shift();
        progress(line);
      }
    } catch (thrown) {
      signal.throwIfAborted();
      throw this.#client.failure(thrown, action);
    }
  }
}

/**
 * Yields one event per line. Neither node:readline, whose iterator hides stream errors, nor dockerode's followProgress,
 * which throws uncatchably at invalid JSON and keeps all events.
 */
async function* progressEvents(answer: NodeJS.ReadableStream): AsyncGenerator<ProgressEvent> {
  let rest = "";
  answer.setEncoding("utf8");
  for await (const chunk of answer as AsyncIterable<string>) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.trim() !== "") yield JSON.parse(line) as ProgressEvent;
  }
}
