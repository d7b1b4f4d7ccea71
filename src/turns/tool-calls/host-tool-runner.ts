import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";

import type { ChangeOutcome } from "../../domain/rights/approval.ts";
import { workFolder } from "../../domain/chats/group.ts";
import type { ToolCall } from "../../domain/turns/model.ts";
import type { Part } from "../../domain/chats/part.ts";
import { sourced, type Sourced } from "../../domain/rights/sourced.ts";
import { originalBytes } from "../../domain/chats/part.ts";
import { isJsonObject } from "../../lib/text/parse-json.ts";
import { AppError, toError } from "../../lib/app-error.ts";
import type { ErrorCode } from "../../lib/app-error.ts";
import type { HostileCopy } from "../../lib/files/open-hostile-file.ts";
import { sniffedBytes } from "../../lib/files/file-type.ts";
import { limits } from "../../protocol/limits.ts";
import type { GivenPage } from "../../protocol/pages.ts";
import { containerPaths, filesFolder } from "../../protocol/paths.ts";
import { isSecretPath } from "../../protocol/secret-names.ts";
import { timedOut, ToolError } from "../../protocol/tools.ts";
import type { ToolOutput } from "../../protocol/tools.ts";
import type { TurnTools } from "../../tools/conversation-tools.ts";
import { innerCall } from "../../tools/finding/finding-tools.ts";
import { toHostToolOutput } from "../../tools/define-tool.ts";
import type { ChangeWords, GivenFile, HostTool, HostToolOutput, Said, ToolPorts } from "../../tools/define-tool.ts";
import type { HotContainer } from "../../sandbox/pool/hot-container.ts";
import type { AnswerGate } from "./answer-gate.ts";
import type { TurnCollaborators } from "../collaborators.ts";
import { answering, draftFor } from "../drafts.ts";
import { turnIdsOf, type TurnScope } from "../turn-scope.ts";

/** Messages, files and reactions that an agent may send in one turn besides its answer. */
const sendsPerTurn = 20;

/** Refusals of other parts of the host whose words are meant for the model. */
const wordsForModel: ReadonlySet<ErrorCode> = new Set(["bad_input", "too_large"]);

/** An agent's request to the host to run a tool call. */
export interface HostToolRequest {
  readonly callId: string;
  readonly name: string;
  readonly input: unknown;
}

/** The host's answer. */
interface HostToolAnswer extends ToolOutput {
  readonly page?: GivenPage | undefined;
}

/** Collaborators for running the host's tools. */
type ToolParts = Pick<
  TurnCollaborators,
  "tools" | "calls" | "answers" | "watchers" | "publish" | "clock" | "logger"
> & {
  readonly store: Pick<TurnCollaborators["store"], "turns" | "messages" | "outbox" | "origins">;
};

interface HostToolSurroundings {
  /** The turn is over, or the container's work on it. */
  readonly ended: AbortSignal;
  /** Knows which calls the agent was given. */
  readonly gate: Pick<AnswerGate, "wasGiven">;
  /** The one that works on the turn. */
  readonly container: () => Pick<HotContainer, "giveFile"> | undefined;
}

/**
 * A call of the model's, and what tells it from all others of the turn: models may give calls of several answers one
 * id.
 */
interface OpenCall extends ToolCall {
  readonly key: string;
}

/**
 * Runs the tools of the host. What is done is what the *model* asked for and policy allowed, taken from the store: the
 * agent only says which call it is at, and where a path leads that the model named. Each call is done once, however
 * often it asks.
 */
export class HostToolRunner {
  readonly #scope: TurnScope;
  readonly #parts: ToolParts;
  readonly #ended: AbortSignal;
  readonly #gate: HostToolSurroundings["gate"];
  readonly #container: HostToolSurroundings["container"];
  readonly #done = new Map<string, Promise<HostToolOutput>>();
  /** Parts shown after results that the agent has not handed in yet, by call. */
  readonly #shown = new Map<string, readonly Part[]>();
  #sends = 0;
  #oversteps = 0;

  constructor(scope: TurnScope, parts: ToolParts, { ended, gate, container }: HostToolSurroundings) {
    this.#scope = scope;
    this.#parts = parts;
    this.#ended = ended;
    this.#gate = gate;
    this.#container = container;
  }

  /** Never rejects: what goes wrong is a result that the model can read. */
  async run(request: HostToolRequest, tools: TurnTools): Promise<HostToolAnswer> {
    try {
      const call = await this.#openCall(request);
      const before = this.#done.get(call.key);
      const doing = before ?? this.#do(call, request, tools);
      this.#done.set(call.key, doing);
      const { output, isError, parts = [], page } = await doing;
      const { origins, folders } = output;
      if (origins.length + folders.length > 0)
        await this.#parts.store.origins.note(this.#scope.turn.id, origins, folders);
      this.#shown.set(call.id, parts);
      return { output: output.text, isError, page };
    } catch (thrown) {
      return { output: this.#wordsFor(request, toError(thrown)), isError: true };
    }
  }

  /** The parts behind the result of this call, once: they do not go by way of the agent. */
  takeShown(callId: string): readonly Part[] {
    const parts = this.#shown.get(callId) ?? [];
    this.#shown.delete(callId);
    return parts;
  }

  /** Records that the agent requested what only the model can: a program in the container imitates it. */
  async overstepped(reason: string): Promise<void> {
    this.#oversteps += 1;
    if (this.#oversteps > limits.violations) return;
    const about = turnIdsOf(this.#scope);
    await this.#parts.publish({ type: "agent.overstepped", ...about, actor: "agent", data: { reason } });
  }

  async #openCall(request: HostToolRequest): Promise<OpenCall> {
    const last = await this.#parts.store.turns.lastStep(this.#scope.turn.id);
    const body = last?.body;
    const isDenied = body?.kind === "model" && body.denied.some((result) => result.callId === request.callId);
    if (body?.kind === "model" && !isDenied && this.#gate.wasGiven(last?.seq, request.callId)) {
      const call = body.answer.toolCalls.find((made) => made.id === request.callId);
      if (call && request.name === call.name) return { ...call, key: `${last?.seq} ${call.id}` };
    }
    const refusal = `No call ${request.callId} of ${request.name} is open in this turn.`;
    await this.overstepped(refusal);
    throw new ToolError(refusal);
  }

  async #do(call: OpenCall, request: HostToolRequest, tools: TurnTools): Promise<HostToolOutput> {
    const meant = innerCall(call);
    const tool = tools.get(meant.name);
    if (tool?.runs === "container" && meant.name === "read_file") return this.#readCovered(meant.input, request.input);
    if (tool?.runs !== "host") throw new ToolError(`${meant.name} is not a tool of the host.`);
    if (tool.sends) this.#countSend();
    const expired = AbortSignal.timeout(tool.timeoutSeconds * 1_000);
    const signal = AbortSignal.any([this.#ended, expired]);
    const { group, turn } = this.#scope;
    const input = withPaths(tool, meant.input, request.input);
    const running = tool.run(input, { ...this.#ports(call, tools, signal), group: group.name, turn: turn.id, signal });
    try {
      return toHostToolOutput(await Promise.race([running, aborted(signal)]));
    } catch (error) {
      if (!expired.aborted || this.#ended.aborted) throw error;
      const { output, isError } = timedOut(tool.name, tool.timeoutSeconds);
      return { output: sourced(output, []), isError };
    }
  }

  /**
   * Reads what is covered in the container. That people or the policy have allowed is one path, so it is the one that
   * the model wrote, never where the agent says that it leads.
   */
  async #readCovered(called: unknown, requested: unknown): Promise<HostToolOutput> {
    const [path, resolved] = [called, requested].map((input) => (isJsonObject(input) ? input["path"] : undefined));
    if (typeof path !== "string" || path !== resolved || !isSecretPath(path))
      throw new ToolError("What looks like a secret is covered. Call read_file with its full path to ask for it.");
    const text = await inWordsForModel(this.#parts.tools.readCovered(this.#scope.group.name, path));
    return { output: sourced(text, []), isError: false };
  }

  #countSend(): void {
    if (this.#sends >= sendsPerTurn) {
      throw new ToolError(`At most ${sendsPerTurn} messages may be sent in one turn.`);
    }
    this.#sends += 1;
  }

  /** Error text for the model: a tool's own words; for bugs a fixed text. */
  #wordsFor({ name }: HostToolRequest, error: Error): string {
    if (error instanceof ToolError) return error.message;
    if (this.#ended.aborted) return `${name} was cancelled.`;
    const about = { group: this.#scope.group.name, turn: this.#scope.turn.id, tool: name };
    this.#parts.logger.error({ err: error, ...about }, "a tool of the host failed");
    return `${name} failed.`;
  }

  #ports(call: OpenCall, tools: TurnTools, signal: AbortSignal): ToolPorts {
    const { store, answers, tools: host, calls, watchers } = this.#parts;
    const scope = this.#scope;
    const { group, turn } = scope;
    return {
      ...host.portsOf(scope, signal),
      redact: (text) => answers.formatReply(text, scope),
      send: (said) => this.#send(said, signal),
      keepFile: (path) => inWordsForModel(host.keepFile(workFolder(group), path)),
      keepVoice: (said) => inWordsForModel(host.keepVoice(group.name, said)),
      keepImage: (content, name) => this.#keepImage(content, name),
      giveFile: (content, extension) => this.#giveFile(content, extension),
      sessions: host.sessionsFor(scope, call.key),
      otherTools: { find: (query) => tools.find(query) },
      tellProgress: (text) => watchers.saying(scope, text),
      lastMessage: async () => (await store.messages.ofTurn(turn.id)).at(-1),
      changeOutcome: async (words) => describeChange(words, await calls.changeOutcome(turn.id, call.id)),
    };
  }

  async #keepImage(content: Uint8Array, name: string): Promise<Part> {
    const image = await this.#parts.tools.keepImage({
      group: this.#scope.group,
      name,
      copy: (target) => writeImage(target, content),
    });
    if (typeof image === "string") throw new ToolError(`The image ${name} cannot be shown: ${image}.`);
    return image;
  }

  async #giveFile(content: Uint8Array, extension: string): Promise<GivenFile> {
    const container = this.#container();
    if (!container) throw new ToolError("The container is gone.");
    const name = await container.giveFile(content, extension);
    return { name, path: `${containerPaths.toAgent}/${filesFolder}/${name}` };
  }

  async #send(said: Said, signal: AbortSignal): Promise<void> {
    // What was told as timed out must not be sent afterwards.
    signal.throwIfAborted();
    const { group, turn } = this.#scope;
    const { store, clock } = this.#parts;
    // It answers nothing yet, but is said where the answer will be.
    const { thread } = answering(await store.messages.ofTurn(turn.id));
    const about = { inReplyTo: [], thread, turn: turn.id };
    await store.outbox.add({ ...draftFor(group, { kind: "reply", ...about, text: said.text }), ...said }, clock.now());
    this.#parts.answers.deliver();
  }
}

/** For the model. */
function describeChange({ thing, written }: ChangeWords, outcome: ChangeOutcome): Sourced {
  if (outcome === "written") return written;
  if (outcome === "changed")
    throw new ToolError(
      `${thing} has changed since this was proposed: nothing was written. Look at it, and propose it again.`,
    );
  throw new ToolError(`${thing} could not be written: nothing was changed.`);
}

/** The model's own input; where a path of it leads is said by the container. */
function withPaths({ resolvePaths }: HostTool, called: unknown, requested: unknown): unknown {
  if (!isJsonObject(called) || !isJsonObject(requested)) return called;
  const paths = resolvePaths.filter(
    (field) => typeof called[field] === "string" && typeof requested[field] === "string",
  );
  return { ...called, ...Object.fromEntries(paths.map((field) => [field, requested[field]])) };
}

async function writeImage(target: string, content: Uint8Array): Promise<HostileCopy> {
  if (content.length > originalBytes) return { ok: false, reason: "too-large" };
  await writeFile(target, content, { mode: 0o600, flag: "wx", flush: true });
  const sha256 = createHash("sha256").update(content).digest("hex");
  return { ok: true, bytes: content.length, sha256, head: Buffer.from(content.subarray(0, sniffedBytes)) };
}

async function inWordsForModel<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof AppError && wordsForModel.has(error.code))
      throw new ToolError(error.message, { cause: error });
    throw error;
  }
}

/** Rejects with the signal's reason when it aborts. */
function aborted(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(toError(signal.reason));
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  return promise;
}
