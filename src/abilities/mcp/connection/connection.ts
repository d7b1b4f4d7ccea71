import type {
  CallToolResult,
  Client,
  GetPromptResult,
  Implementation,
  Progress,
  ReadResourceResult,
  RequestOptions,
  ServerCapabilities,
  Transport,
} from "@modelcontextprotocol/client";

import { toError } from "../../../lib/app-error.ts";
import { visible } from "../../../lib/text/visible.ts";
import { mending } from "./mending-transport.ts";
import type { Wishes } from "./wishes.ts";
import { answerWishes } from "./wishes.ts";

const requestMs = 30_000;
const listMs = 20_000;
/** Pages of one list; a server whose list has no end is cut there. */
const mostPages = 64;
/** Tools, resources or prompts of a server that are looked at. */
const mostListed = 512;
const logLineChars = 500;
const logLinesPerConnection = 200;

/** Options of a running call. */
export interface McpCallOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly onProgress?: ((text: string) => void) | undefined;
}

export interface ConnectionOptions {
  readonly transport: Transport;
  /** Client name and version of crabpot. */
  readonly client: Implementation;
  /** Has a server at an address, which may speak a newer protocol than others. */
  readonly isRemote: boolean;
  /** Requests that the server may make; undefined: none. */
  readonly wishes?: Wishes | undefined;
  /** Reason of the end, if known. */
  readonly whyClosed?: (() => string | undefined) | undefined;
  readonly onToolsChanged: () => void;
  readonly onLog: (line: { readonly level: string; readonly text: string }) => void;
  readonly signal: AbortSignal;
}

/** A server's list, and whether it is complete. */
export interface Listed {
  readonly items: readonly unknown[];
  readonly isCut: boolean;
}

/** One connection with a server. The SDK checks the form of what it sends, nobody its content. */
export class McpConnection implements AsyncDisposable {
  /** Resolves at its end, whoever ended it. */
  readonly closed: Promise<void>;
  readonly whyClosed: () => string | undefined;
  readonly #client: Client;

  private constructor(client: Client, closed: Promise<void>, whyClosed: () => string | undefined) {
    this.#client = client;
    this.closed = closed;
    this.whyClosed = whyClosed;
  }

  /** Greets the server. Rejects with why it cannot be used; the transport is closed then. */
  static async open(options: ConnectionOptions): Promise<McpConnection> {
    const { transport, isRemote, wishes, signal } = options;
    // Only who has a server needs the library.
    const sdk = await import("@modelcontextprotocol/client");
    const client = new sdk.Client(options.client, {
      capabilities: wishes
        ? {
            ...(wishes.sample && { sampling: {} }),
            ...(wishes.elicit && { elicitation: { form: { applyDefaults: true }, url: {} } }),
          }
        : {},
      // The schemas of strangers are not run here.
      jsonSchemaValidator: {
        getValidator: () => (data: unknown) => ({ valid: true, data: data as never, errorMessage: undefined }),
      },
      listMaxPages: mostPages,
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => options.onToolsChanged() } },
      ...(isRemote && { versionNegotiation: { mode: "auto" } }),
    });
    const closed = Promise.withResolvers<void>();
    Object.assign(client, { onclose: () => closed.resolve(), onerror: () => undefined });
    if (wishes) answerWishes(client, wishes);
    followLog(client, options.onLog);
    try {
      await client.connect(mending(transport), { signal, timeout: requestMs });
    } catch (error) {
      await transport.close().catch(() => undefined);
      throw toError(error);
    }
    return new McpConnection(client, closed.promise, options.whyClosed ?? (() => undefined));
  }

  get capabilities(): ServerCapabilities {
    return this.#client.getServerCapabilities() ?? {};
  }

  /** Version reported by the server, for records. */
  get serverVersion(): string {
    const { name = "", version = "" } = this.#client.getServerVersion() ?? {};
    return visible(`${name} ${version}`).slice(0, 100);
  }

  get protocol(): string {
    return this.#client.getNegotiatedProtocolVersion() ?? "";
  }

  async listTools(signal: AbortSignal): Promise<Listed> {
    if (!this.capabilities.tools) return { items: [], isCut: false };
    // Headers of calls are made of what the library has listed itself.
    if (this.#client.getProtocolEra() === "modern") {
      const { tools } = await this.#client.listTools(undefined, { signal, timeout: listMs, cacheMode: "refresh" });
      return { items: tools.slice(0, mostListed), isCut: tools.length > mostListed };
    }
    return pages(async (params) => {
      const answer = await this.#client.request({ method: "tools/list", params }, { signal, timeout: listMs });
      return { items: answer.tools, nextCursor: answer.nextCursor };
    });
  }

  async listResources(signal: AbortSignal): Promise<Listed> {
    if (!this.capabilities.resources) return { items: [], isCut: false };
    return pages(async (params) => {
      const answer = await this.#client.request({ method: "resources/list", params }, { signal, timeout: listMs });
      return { items: answer.resources, nextCursor: answer.nextCursor };
    });
  }

  async listPrompts(signal: AbortSignal): Promise<Listed> {
    if (!this.capabilities.prompts) return { items: [], isCut: false };
    return pages(async (params) => {
      const answer = await this.#client.request({ method: "prompts/list", params }, { signal, timeout: listMs });
      return { items: answer.prompts, nextCursor: answer.nextCursor };
    });
  }

  callTool(name: string, input: Record<string, unknown>, options: McpCallOptions): Promise<CallToolResult> {
    return this.#client.callTool({ name, arguments: input }, requestOptions(options));
  }

  readResource(uri: string, options: McpCallOptions): Promise<ReadResourceResult> {
    return this.#client.readResource({ uri }, { ...requestOptions(options), cacheMode: "bypass" });
  }

  getPrompt(name: string, args: Record<string, string>, options: McpCallOptions): Promise<GetPromptResult> {
    return this.#client.getPrompt({ name, arguments: args }, requestOptions(options));
  }

  async ping(signal: AbortSignal): Promise<void> {
    await this.#client.ping({ signal, timeout: requestMs });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.close().catch(() => undefined);
  }
}

function requestOptions({ signal, timeoutMs, onProgress }: McpCallOptions): RequestOptions {
  return {
    signal,
    timeout: timeoutMs,
    maxTotalTimeout: timeoutMs,
    ...(onProgress && {
      onprogress: ({ progress, total, message }: Progress) => {
        const share =
          total === undefined || total <= 0 ? "" : ` (${Math.min(100, Math.round((100 * progress) / total))} %)`;
        onProgress(`${visible(message ?? "").slice(0, 100)}${share}`.trim());
      },
    }),
  };
}

/** Each item once, cut at the most that are looked at; a cursor that was there before is the end. */
async function pages(
  read: (params: { cursor?: string }) => Promise<Omit<Listed, "isCut"> & { readonly nextCursor?: string | undefined }>,
): Promise<Listed> {
  const items = new Map<string, unknown>();
  const cursors = new Set<string>();
  let params: { cursor?: string } = {};
  for (let page = 0; page < mostPages; page += 1) {
    const { items: more, nextCursor } = await read(params);
    for (const item of more) {
      const key = JSON.stringify(item);
      if (items.size === mostListed && !items.has(key)) return { items: [...items.values()], isCut: true };
      items.set(key, item);
    }
    if (nextCursor === undefined || cursors.has(nextCursor)) return { items: [...items.values()], isCut: false };
    cursors.add(nextCursor);
    params = { cursor: nextCursor };
  }
  return { items: [...items.values()], isCut: true };
}

/** Logs the server's messages, within limits. */
function followLog(client: Client, onLog: ConnectionOptions["onLog"]): void {
  let lines = 0;
  client.setNotificationHandler("notifications/message", ({ params: { level, data } }) => {
    lines += 1;
    if (lines > logLinesPerConnection) return;
    const text = typeof data === "string" ? data : JSON.stringify(data ?? null);
    onLog({ level, text: visible(text.slice(0, logLineChars)) });
  });
}
