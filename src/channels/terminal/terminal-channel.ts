import { randomUUID } from "node:crypto";

import { createColors } from "picocolors";

import type { Delta } from "../../domain/chats/delta.ts";
import type { IncomingMessage, OutgoingMessage, ProgressLine, Sign } from "../../domain/chats/message.ts";
import { toError } from "../../lib/app-error.ts";
import { formatBytes } from "../../lib/text/bytes.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { sleep } from "../../lib/time/sleep.ts";
import { visible } from "../../lib/text/visible.ts";
import { columnsOf } from "../../lib/text/columns.ts";
import type { AcceptMessage, Channel, ChannelEvents, ChannelState, Receipt } from "../channel.ts";
import type { HostConsole } from "../define-channel.ts";
import { LiveAnswers } from "./live-answers.ts";
import { formatText, type MisaddressedLine, parseLine } from "./line.ts";
import { Screen } from "./screen.ts";

export interface TerminalOptions extends HostConsole {
  readonly assistantName: string;
  readonly clock: Clock;
  /** The groups that can be written to. */
  readonly chats: () => readonly string[];
}

const storeRetryS = 1;
/** Between two looks at an answer that grows. */
const redrawMs = 50;
/** Maximum rows for growing answers; the same number stays for the prompt and earlier output. */
const mostLiveRows = 20;
const keptRows = 4;
const describeSign = { queued: "waiting for its turn …", working: "working …" } as const;

/**
 * People type `group/member: text`. A line is handed over only after the one before it was stored, and is offered again
 * for as long as the host has no room for it: no line is lost, however fast they come.
 */
export class TerminalChannel implements Channel {
  readonly name = "terminal";
  readonly idempotent = true;
  readonly #options: TerminalOptions;
  readonly #screen: Screen;
  readonly #colors: ReturnType<typeof createColors>;
  readonly #stop = new AbortController();
  readonly #ended = Promise.withResolvers<void>();
  /** The last message of each chat that was printed or is being printed: the same one again is the same print. */
  readonly #printed = new Map<string, { readonly seq: number; readonly done: Promise<void> }>();
  // Ids must be unique for ever; the lines of a terminal have none themselves.
  readonly #run = randomUUID();
  /** Groups with a person who has waited for a while. */
  readonly #activity = new Map<string, Exclude<Sign, "idle">>();
  /** Activity of long turns, by group. */
  readonly #progress = new Map<string, string>();
  readonly #live = new LiveAnswers(({ chat = "", agent }) => this.#nameOf(formatText(chat), agent));
  /** Only a person at a terminal can watch: programs get whole messages. */
  readonly showDelta: Channel["showDelta"];
  #redraw: NodeJS.Timeout | undefined;
  #lines = 0;
  #state: ChannelState;
  #events: ChannelEvents | undefined;
  #reading: Promise<void> | undefined;

  constructor(options: TerminalOptions) {
    const prompting = options.interactive && !options.json;
    this.#options = options;
    this.#colors = createColors(prompting);
    this.#screen = new Screen(options, prompting ? this.#colors.bold("› ") : undefined);
    this.#state = { state: "connecting", since: options.clock.now() };
    if (prompting) this.showDelta = (delta) => this.#watch(delta);
    options.output.on("error", this.#onOutputError);
  }

  get inputEnded(): Promise<void> {
    return this.#ended.promise;
  }

  async start(accept: AcceptMessage, events?: ChannelEvents): Promise<void> {
    this.#events = events;
    this.#changeState("open");
    if (this.#options.interactive && !this.#options.json) {
      // A terminal that is gone is no reason to be started again: reading tells that it has ended.
      await this.#screen.print(this.#colors.dim(this.#helpText())).catch(() => undefined);
    }
    this.#reading = this.#read(accept);
  }

  async send(message: OutgoingMessage, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const last = this.#printed.get(message.chat);
    if (last?.seq === message.seq) {
      await last.done;
      return;
    }
    const done = this.#screen.print(this.#render(message));
    this.#printed.set(message.chat, { seq: message.seq, done });
    try {
      await done;
    } catch (error) {
      this.#printed.delete(message.chat);
      throw error;
    }
  }

  /** Shows in the prompt what is waited for; where there is no prompt, nothing. */
  async signal(chat: string, sign: Sign): Promise<void> {
    if (sign === "idle") this.#activity.delete(chat);
    else this.#activity.set(chat, sign);
    this.#showActivity();
  }

  /** In the same place. */
  async showProgress(chat: string, { text, over }: ProgressLine): Promise<void> {
    if (over) this.#progress.delete(chat);
    else this.#progress.set(chat, text);
    this.#showActivity();
  }

  #watch(delta: Delta): void {
    this.#live.add(delta);
    if (delta.type === "over") this.#showLive();
    else this.#redraw ??= setTimeout(() => this.#showLive(), redrawMs).unref();
  }

  #showLive(): void {
    clearTimeout(this.#redraw);
    this.#redraw = undefined;
    const { columns, rows } = this.#screen;
    if (columns === undefined || rows === undefined) return;
    this.#screen.live(this.#live.lines({ columns, rows: Math.min(mostLiveRows, rows - keptRows) }));
  }

  #showActivity(): void {
    const shown = [...this.#activity].map(([group, state]) => {
      const progress = this.#progress.get(group);
      return `${formatText(group)} ${progress === undefined ? describeSign[state] : `${formatText(progress)} …`}`;
    });
    this.#screen.status(shown.length === 0 ? "" : this.#colors.dim(`${shown.join(", ")} `));
  }

  state(): ChannelState {
    return this.#state;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#redraw);
    this.#screen[Symbol.dispose]();
    await this.#reading;
    this.#ended.resolve();
    this.#options.output.off("error", this.#onOutputError);
    this.#changeState("closed");
  }

  readonly #onOutputError = (error: Error): void => {
    this.#changeState("closed", `the output was closed: ${error.message}`);
  };

  async #read(accept: AcceptMessage): Promise<void> {
    try {
      this.#screen.prompt();
      for await (const line of this.#screen.lines) {
        await this.#handOver(line, accept);
        if (this.#stop.signal.aborted) break;
        this.#screen.prompt();
      }
    } catch (error) {
      this.#changeState("degraded", `the input was closed: ${toError(error).message}`);
    } finally {
      this.#ended.resolve();
    }
  }

  async #handOver(line: string, accept: AcceptMessage): Promise<void> {
    const spoken = parseLine(line, this.#options.chats());
    if (!spoken) return;
    if ("meant" in spoken) {
      await this.#warn(describeMisaddressed(spoken));
      this.#options.onRefused?.();
      return;
    }
    const { group, member, text } = spoken;
    this.#lines += 1;
    const message: IncomingMessage = {
      channel: this.name,
      chat: group,
      id: `${this.#run}-${this.#lines}`,
      sender: { id: member, name: member },
      text,
      mention: false,
    };
    if (!(await this.#offer(message, accept))) this.#options.onRefused?.();
  }

  /** False when the message is refused for good. */
  async #offer(message: IncomingMessage, accept: AcceptMessage): Promise<boolean> {
    for (let attempt = 1; ; attempt += 1) {
      const receipt = await offer(accept, message);
      const trouble = receipt.outcome === "stored" ? undefined : describeTrouble(receipt, message);
      if (trouble && attempt === 1) await this.#warn(trouble);
      if (receipt.outcome === "stored") return true;
      if (receipt.outcome === "unknown-chat" || receipt.retryAfterS === 0 || receipt.lasting === true) return false;
      await sleep(receipt.retryAfterS * 1000, this.#stop.signal);
      if (this.#stop.signal.aborted) return true;
    }
  }

  async #warn(trouble: string): Promise<void> {
    await this.#screen.hint(`${this.#colors.yellow(this.#layOut(trouble, 0))}\n`);
  }

  #layOut(text: string, taken: number): string {
    const { columns } = this.#screen;
    return formatText(text, columns === undefined ? undefined : { columns, taken });
  }

  #render(message: OutgoingMessage): string {
    const { kind, group, text, inReplyTo, turn, agent, file, elapsedMs } = message;
    if (this.#options.json) {
      const ms = elapsedMs === undefined ? null : Math.round(elapsedMs * 10) / 10;
      return `${JSON.stringify({ type: kind, group, text, inReplyTo, turn: turn ?? null, agent, file, ms })}\n`;
    }
    const paint = kind === "reply" ? this.#colors.cyan : this.#colors.yellow;
    const said =
      file === undefined ? text : `[file: ${visible(file.name)}, ${formatBytes(file.bytes)}, ${file.path}] ${text}`;
    const name = `${this.#nameOf(group, agent)}:`;
    return `${paint(name)} ${this.#layOut(said.trimEnd(), columnsOf(name) + 1)}\n`;
  }

  #nameOf(group: string, agent: string | undefined): string {
    return `${group}/${agent ?? this.#options.assistantName}`;
  }

  #helpText(): string {
    const lines = [
      `You are talking to ${this.#options.assistantName}. A line goes to group main; "family/anna: hello" is anna speaking in group family.`,
      "Commands: /help, /status, /stop, /new. Ctrl-D quits.",
    ];
    return lines.map((line) => `${this.#layOut(line, 0)}\n`).join("");
  }

  #changeState(state: ChannelState["state"], detail?: string): void {
    this.#state = { state, since: this.#options.clock.now(), detail };
    this.#events?.changed(this.#state);
  }
}

/** A store that fails is a reason to try again, as the message was not acknowledged to anybody. */
async function offer(accept: AcceptMessage, message: IncomingMessage): Promise<Receipt> {
  try {
    return await accept(message);
  } catch (error) {
    return { outcome: "refused", reason: toError(error).message, retryAfterS: storeRetryS, stopped: false };
  }
}

/** Nothing of what was said: it may be a secret of another group. */
function describeMisaddressed({ group, member, meant }: MisaddressedLine): string {
  return `There is no group "${group}" on the terminal, so this line was rejected. For group ${meant}, type "${meant}/${member}: …"; for group main, "main/you: ${group}/${member}: …".`;
}

function describeTrouble(receipt: Exclude<Receipt, { outcome: "stored" }>, { chat }: IncomingMessage): string {
  if (receipt.outcome === "unknown-chat") {
    return `There is no group "${chat}" on the terminal, so this line was rejected. Add the group, or start the line with "main/you: …" if it is meant for group main.`;
  }
  const later = receipt.retryAfterS > 0 && receipt.lasting !== true;
  return `A line for group "${chat}" was rejected: ${receipt.reason}.${later ? " Retrying." : ""}`;
}
