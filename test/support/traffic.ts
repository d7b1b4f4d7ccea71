import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

import type { ListedTurn, ReceivedReply, SentMessage } from "./checker.ts";
import { jsonLines } from "./crabpot.ts";
import type { TestHost } from "./host.ts";
import type { Random } from "./random.ts";

const requestLimitMs = 8_000;
const retryMs = 100;

interface Sent extends SentMessage {
  accepted: boolean;
}

/** What each group says, one message after the other, and how many of a hundred requests are cut off when they are sent. */
export interface Plan {
  readonly groups: readonly string[];
  /** The text of the group's next message; undefined: it has said everything. */
  readonly next: (group: string, index: number) => string | undefined;
  readonly cutPercent?: number;
  /** Milliseconds between two messages of a group. */
  readonly pauseMs?: () => number;
}

/**
 * An outside client of the HTTP channel that gives up nothing: each message is sent until it is acknowledged, replies are
 * read with `after=`, whatever happens to the host in between. It remembers what it gave in and what it got.
 */
export class Traffic {
  readonly sent: Sent[] = [];
  readonly replies: ReceivedReply[] = [];
  readonly #host: TestHost;
  readonly #plan: Plan;
  readonly #random: Random;
  readonly #answered = new Set<string>();
  #finished = false;

  constructor(host: TestHost, plan: Plan, random: Random) {
    this.#host = host;
    this.#plan = plan;
    this.#random = random;
  }

  /** Messages that are acknowledged and not answered. */
  get unanswered(): string[] {
    return this.sent.filter(({ id, accepted }) => accepted && !this.#answered.has(id)).map(({ id }) => id);
  }

  /** Says everything and waits for the answers, at most so long after the last message was taken. */
  async run(answersWithinMs: number): Promise<void> {
    const reading = this.#read();
    try {
      await Promise.all(this.#plan.groups.map((group) => this.#speak(group)));
      const deadline = performance.now() + answersWithinMs;
      while (this.unanswered.length > 0 && performance.now() < deadline) await delay(retryMs);
    } finally {
      this.#finished = true;
      await reading;
    }
  }

  /** Reads what has come since, once. */
  async readOn(): Promise<void> {
    const after = this.replies.at(-1)?.seq ?? 0;
    for (const reply of await this.#host.replies(after)) {
      this.replies.push(reply);
      for (const id of reply.inReplyTo) this.#answered.add(id);
    }
  }

  async #speak(group: string): Promise<void> {
    for (let index = 0; ; index += 1) {
      const text = this.#plan.next(group, index);
      if (text === undefined) return;
      const message: Sent = { group, id: `${group}-${index}`, accepted: false };
      this.sent.push(message);
      if (this.#random.chance(this.#plan.cutPercent ?? 0)) await this.#sendAndHangUp(message, text);
      while (!(await this.#send(message, text))) await delay(retryMs);
      message.accepted = true;
      await delay(this.#plan.pauseMs?.() ?? 0);
    }
  }

  async #send({ group, id }: Sent, text: string): Promise<boolean> {
    try {
      const answer = await this.#host.post(bodyOf(group, id, text), AbortSignal.timeout(requestLimitMs));
      await answer.arrayBuffer();
      if ([400, 404, 413].includes(answer.status)) throw new Error(`${id} was refused for good: ${answer.status}`);
      return answer.status === 202;
    } catch (error) {
      if (error instanceof Error && error.message.includes("for good")) throw error;
      return false;
    }
  }

  /** As a client whose machine dies when it has sent everything: the host may or may not have it. */
  async #sendAndHangUp({ group, id }: Sent, text: string): Promise<void> {
    const body = JSON.stringify(bodyOf(group, id, text));
    const { hostname, port } = new URL(this.#host.url);
    const socket = connect(Number(port), hostname);
    try {
      await once(socket, "connect");
      const headers = [
        "POST /v1/channels/http/messages HTTP/1.1",
        `Host: ${hostname}:${port}`,
        ...Object.entries(this.#host.headers).map(([name, value]) => `${name}: ${value}`),
        `Content-Length: ${Buffer.byteLength(body)}`,
      ];
      const { promise, resolve } = Promise.withResolvers<void>();
      socket.write(`${headers.join("\r\n")}\r\n\r\n${body}`, () => resolve());
      await promise;
    } catch {
      // The host is away; the message is sent again anyway.
    } finally {
      socket.destroy();
    }
  }

  async #read(): Promise<void> {
    while (!this.#finished) {
      await this.readOn().catch(() => undefined);
      await delay(retryMs);
    }
    await this.readOn().catch(() => undefined);
  }
}

function bodyOf(group: string, id: string, text: string): object {
  return { id, group, sender: { id: "ann", name: "Ann" }, text };
}

/** What the host says about turns, of all groups. */
export async function listTurns(host: TestHost, groups: readonly string[]): Promise<ListedTurn[]> {
  const turns: ListedTurn[] = [];
  for (const group of groups) {
    const { stdout } = await host.cli("turns", "list", "--group", group, "--limit", "1000", "--json");
    turns.push(...(jsonLines(stdout) as unknown as ListedTurn[]));
  }
  return turns;
}

/** Ends the host in good order and looks at what is left: the last part of a history. */
export async function endAndAudit(
  host: TestHost,
): Promise<{ exitCode: number | null; audit: { ok: boolean; detail: string }; containersLeft: string[] }> {
  const exitCode = await host.end("SIGTERM");
  const { code, stdout, stderr } = await host.cli("audit", "verify");
  return {
    exitCode,
    audit: { ok: code === 0, detail: `${stdout}${stderr}`.trim() },
    containersLeft: await host.containers(),
  };
}
