import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import type { Duplex, Readable } from "node:stream";

import type { Logger } from "pino";

import { killGroup } from "../../lib/process/kill-group.ts";
import { shorten, visible } from "../../lib/text/visible.ts";
import { type Frame, readFrames } from "./frames.ts";
import type { Launch } from "./launch.ts";
import { Peer, type PeerOptions } from "./peer.ts";

export interface PluginLimits {
  /** A process that was silent for so long is killed. */
  readonly silenceMs: number;
  /** What it gets to end by itself. */
  readonly endMs: number;
  /** Longest message that is taken from it. */
  readonly messageBytes: number;
  /** Messages that it may send in a second. */
  readonly messagesPerSecond: number;
  /** Lines of what it prints that are logged in a minute; the others are counted. */
  readonly linesPerMinute: number;
  readonly mostServed: number;
}

export const pluginLimits: PluginLimits = {
  silenceMs: 60_000,
  endMs: 2_000,
  messageBytes: 8 * 1024 * 1024,
  messagesPerSecond: 2_000,
  linesPerMinute: 30,
  mostServed: 64,
};

export interface PluginProcessOptions {
  readonly plugin: string;
  readonly launch: Launch;
  readonly memoryMb: number;
  readonly serve: PeerOptions["serve"];
  readonly heard: PeerOptions["heard"];
  readonly logger: Pick<Logger, "info" | "warn" | "error">;
  readonly limits?: PluginLimits | undefined;
}

const outputMs = 500;
const lineChars = 500;
const minuteMs = 60_000;

/**
 * The process in which a plugin's code runs, in a process group of its own. What it prints is logged, shortened and so
 * much of it; killed when it is silent, floods, holds too much or breaks the rules of the line, and when this is
 * disposed at the latest.
 */
export class PluginProcess implements AsyncDisposable {
  readonly peer: Peer;
  /** Resolves when the process has ended, with the reason. */
  readonly exited: Promise<Error>;
  readonly #child: ChildProcess;
  readonly #options: PluginProcessOptions;
  readonly #limits: PluginLimits;
  #silence: NodeJS.Timeout | undefined;
  #killedFor: string | undefined;
  #second = { began: 0, messages: 0 };
  #minute = { began: 0, lines: 0, dropped: 0 };
  #isEnding = false;

  constructor(options: PluginProcessOptions) {
    this.#options = options;
    this.#limits = options.limits ?? pluginLimits;
    const { program, args, env, cwd } = options.launch;
    // Its own group, so that whatever it should manage to start ends with it.
    this.#child = spawn(program, args, { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe", "pipe"] });
    const line = this.#child.stdio[3] as Duplex;
    const { serve, heard } = options;
    const onFault = (reason: string): void => this.kill(reason);
    this.peer = new Peer({
      send: (frame) => this.#send(line, frame),
      serve,
      heard,
      mostServed: this.#limits.mostServed,
      onFault,
    });
    line.on("error", () => undefined);
    readFrames(line, { longest: this.#limits.messageBytes, onFrame: (frame) => this.#take(frame), onFault });
    for (const stream of [this.#child.stdout, this.#child.stderr]) if (stream) this.#log(stream);
    this.#expectLife();
    this.exited = this.#end();
  }

  /** Ends it at once; `reason` is what those hear who wait for it. */
  kill(reason: string): void {
    this.#killedFor ??= reason;
    killGroup(this.#child);
  }

  /** Lets it end by itself for a moment. When this has resolved there is no process. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnding = true;
    const patience = setTimeout(() => this.kill("it did not end by itself"), this.#limits.endMs);
    (this.#child.stdio[3] as Duplex).end();
    await this.exited;
    clearTimeout(patience);
  }

  #send(line: Duplex, frame: Frame): boolean {
    if (line.destroyed || line.writableEnded) return false;
    line.write(`${JSON.stringify(frame)}\n`);
    return true;
  }

  #take(frame: Frame): void {
    if (this.#killedFor !== undefined) return;
    const now = performance.now();
    if (now - this.#second.began > 1_000) this.#second = { began: now, messages: 0 };
    this.#second.messages += 1;
    const { messagesPerSecond } = this.#limits;
    if (this.#second.messages > messagesPerSecond)
      return this.kill(`it sent more than ${messagesPerSecond} messages in a second`);
    this.#expectLife();
    if ("beat" in frame) void this.#weigh();
    else this.peer.receive(frame);
  }

  /** Linux tells what a process holds; elsewhere only its heap is bounded. */
  async #weigh(): Promise<void> {
    const text = await readFile(`/proc/${this.#child.pid}/status`, "utf8").catch(() => "");
    const heldMb = Number(/^RssAnon:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0) / 1024;
    const { memoryMb } = this.#options;
    if (heldMb > memoryMb) this.kill(`it held ${Math.round(heldMb)} MiB, more than its ${memoryMb} (memoryMb)`);
  }

  #expectLife(): void {
    clearTimeout(this.#silence);
    if (this.#isEnding) return;
    this.#silence = setTimeout(() => this.kill("it gave no sign of life"), this.#limits.silenceMs);
  }

  async #end(): Promise<Error> {
    const [code, signal] = await Promise.race([
      once(this.#child, "exit") as Promise<[number | null, string | null]>,
      once(this.#child, "error").then(([error]): [string, null] => [(error as Error).message, null]),
    ]);
    clearTimeout(this.#silence);
    const why = this.#killedFor ?? signal ?? `code ${code}`;
    const reason = new Error(`the process of the plugin ${this.#options.plugin} has ended (${why})`);
    this.peer.close(reason);
    await this.#lastOutput();
    this.#tellDropped();
    (this.#child.stdio[3] as Duplex).destroy();
    return reason;
  }

  /** What it has printed arrives after its end. */
  async #lastOutput(): Promise<void> {
    const open = [this.#child.stdout, this.#child.stderr].filter((stream) => stream && !stream.closed);
    const signal = AbortSignal.timeout(outputMs);
    await Promise.allSettled(open.map((stream) => once(stream as Readable, "close", { signal })));
  }

  /** The logger takes out the secrets that it knows. */
  #log(stream: Readable): void {
    let rest = "";
    // A character may come in two pieces.
    stream.setEncoding("utf8");
    stream.on("data", (chunk: string) => {
      const lines = (rest + chunk).split("\n");
      rest = (lines.pop() ?? "").slice(0, lineChars);
      for (const line of lines) this.#print(line);
    });
    stream.on("close", () => {
      if (rest !== "") this.#print(rest);
    });
  }

  #print(line: string): void {
    const now = performance.now();
    if (now - this.#minute.began > minuteMs) {
      this.#tellDropped();
      this.#minute = { began: now, lines: 0, dropped: 0 };
    }
    this.#minute.lines += 1;
    if (this.#minute.lines > this.#limits.linesPerMinute) this.#minute.dropped += 1;
    else
      this.#options.logger.info(
        { plugin: this.#options.plugin, said: shorten(visible(line), lineChars) },
        "a plugin said",
      );
  }

  #tellDropped(): void {
    const { dropped: lines } = this.#minute;
    if (lines > 0)
      this.#options.logger.warn(
        { plugin: this.#options.plugin, lines },
        "a plugin says too much; its other lines are dropped",
      );
    this.#minute.dropped = 0;
  }
}
