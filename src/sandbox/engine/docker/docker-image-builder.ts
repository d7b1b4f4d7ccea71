import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { AppError } from "../../../lib/app-error.ts";
import type { BuildOptions, ImageBuilder, Progress } from "../image-builder.ts";
import { EngineConnection, type EngineRequest, refusalStatus } from "./connection.ts";
import type { EngineAddress } from "./locate.ts";

interface ProgressEvent {
  readonly stream?: string;
  readonly status?: string;
  readonly id?: string;
  readonly error?: string;
}

interface ImageListAnswer {
  readonly Id: string;
  readonly RepoTags?: readonly string[] | null;
}

/** Image building through Docker's API, with the builder that every engine of that API has. */
export class DockerImageBuilder implements ImageBuilder {
  readonly #connection: EngineConnection;

  constructor(address: EngineAddress) {
    this.#connection = new EngineConnection(address);
  }

  async pull(reference: string, stallLimitMs: number, progress: Progress): Promise<void> {
    const [name = reference, digest] = reference.split("@");
    const tagAt = name.lastIndexOf(":") > name.lastIndexOf("/") ? name.lastIndexOf(":") : name.length;
    const tag = digest ?? (name.slice(tagAt + 1) || "latest");
    const query = { fromImage: name.slice(0, tagAt), tag };
    const request = { action: `pull ${reference}`, method: "POST", path: "/images/create", query } as const;
    const stalled = new AbortController();
    const stall = new AppError("engine_unavailable", `Pulling ${reference}: no progress for ${stallLimitMs / 1000} s.`);
    const timer = setTimeout(() => stalled.abort(stall), stallLimitMs);
    try {
      await this.#follow(request, stalled.signal, (line) => {
        timer.refresh();
        progress(line);
      });
    } finally {
      clearTimeout(timer);
    }
  }

  async importRoot(archive: Readable, tag: string): Promise<void> {
    const [repo, name] = tag.split(":");
    const query = { fromSrc: "-", repo: repo ?? tag, tag: name ?? "latest" };
    const request = { action: `import ${tag}`, method: "POST", path: "/images/create", query, archive } as const;
    await this.#follow(request, new AbortController().signal, () => {});
  }

  async build(archive: Readable, options: BuildOptions, progress: Progress): Promise<void> {
    const query = {
      t: options.tag,
      labels: JSON.stringify(options.labels),
      buildargs: JSON.stringify(options.buildArguments),
      rm: true,
      forcerm: true,
    };
    const request = { action: `build ${options.tag}`, method: "POST", path: "/build", query, archive } as const;
    await this.#follow(request, new AbortController().signal, progress);
  }

  async tag(id: string, tag: string): Promise<void> {
    const [repo = tag, name = "latest"] = tag.split(":");
    const path = `/images/${encodeURIComponent(id)}/tag`;
    await this.#ask({ action: `tag ${id} as ${tag}`, method: "POST", path, query: { repo, tag: name } });
  }

  async list(label: string): Promise<{ id: string; tags: readonly string[] }[]> {
    const query = { filters: JSON.stringify({ label: [label] }) };
    const images = await this.#ask({ action: "list images", method: "GET", path: "/images/json", query });
    return (images as ImageListAnswer[]).map(({ Id, RepoTags }) => ({ id: Id, tags: RepoTags ?? [] }));
  }

  async remove(tag: string): Promise<boolean> {
    try {
      await this.#ask({ action: `remove image ${tag}`, method: "DELETE", path: `/images/${encodeURIComponent(tag)}` });
      return true;
    } catch (thrown) {
      if ([404, 409].includes(refusalStatus(thrown) ?? 0)) return false;
      throw thrown;
    }
  }

  #ask(request: EngineRequest): Promise<unknown> {
    return this.#connection.ask(request, AbortSignal.timeout(60_000));
  }

  async #follow(request: EngineRequest, signal: AbortSignal, progress: Progress): Promise<void> {
    const answer = await this.#connection.open(request, signal);
    const lastLines: string[] = [];
    try {
      for await (const event of progressEvents(answer)) {
        if (event.error !== undefined) {
          const words = [`The container engine could not ${request.action}: ${event.error.trim()}`, ...lastLines];
          throw new AppError("engine_refused", words.join("\n  "));
        }
        const line = [event.id, event.stream ?? event.status].filter(Boolean).join(" ").trim();
        if (line === "") continue;
        if (lastLines.push(line) > 15) lastLines.shift();
        progress(line);
      }
    } catch (thrown) {
      signal.throwIfAborted();
      throw this.#connection.failure(thrown, request.action);
    }
  }
}

/** One event per line. Not with node:readline, whose iterator hides errors of the stream. */
async function* progressEvents(answer: IncomingMessage): AsyncGenerator<ProgressEvent> {
  let rest = "";
  answer.setEncoding("utf8");
  for await (const chunk of answer as AsyncIterable<string>) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.trim() !== "") yield JSON.parse(line) as ProgressEvent;
  }
}
