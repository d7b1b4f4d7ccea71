import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

import type { ListedTurn, ReceivedReply, SentMessage } from "./checker.ts";
import type { TestHost } from "./host.ts";
import type { Random } from "./random.ts";
import { listTurns as listSome } from "../../src/operations/turns/operations.ts";

const requestLimitMs = 8_000;
const retryMs = 50;

interface NewMessage {
  readonly group: string;
  readonly id: string;
  readonly text: string;
}

interface Sent extends SentMessage {
  accepted: boolean;
}

/**
 * An outside client of the HTTP channel that gives up nothing: each message is sent until it is acknowledged, replies
 * are read with `after=`, whatever happens to the host in between. It remembers what it gave in and what it got.
 */
export class Client {
  readonly sent: Sent[] = [];
  readonly replies: ReceivedReply[] = [];
  readonly #host: TestHost;
  readonly #answered = new Set<string>();

  constructor(host: TestHost) {
    this.#host = host;
  }

  /** Messages that are acknowledged and not answered. */
  get unanswered(): string[] {
    return this.sent.filter(({ id, accepted }) => accepted && !this.#answered.has(id)).map(({ id }) => id);
  }

  /** Sends a message until it is acknowledged, or until it is no use. One at a time for each group. */
  async say(message: NewMessage, isNoUse: () => boolean = () => false): Promise<void> {
    const known = this.sent.find(({ id }) => id === message.id);
    const sent = known ?? { group: message.group, id: message.id, accepted: false };
    if (!known) this.sent.push(sent);
    while (!sent.accepted && !isNoUse()) {
      sent.accepted = await this.#send(message);
      if (!sent.accepted) await delay(retryMs);
    }
  }

  /** Sends as a client that dies right afterwards: the host may or may not have the message. */
  async sayAndHangUp(message: NewMessage): Promise<void> {
    const body = JSON.stringify(bodyOf(message));
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

  /** Reads what has come since, if the host answers. */
  async read(): Promise<void> {
    const after = this.replies.at(-1)?.seq ?? 0;
    const replies = await this.#host.replies(after).catch(() => []);
    for (const reply of replies) {
      this.replies.push(reply);
      for (const id of reply.inReplyTo) this.#answered.add(id);
    }
  }

  /** Reads until everything that was acknowledged is answered, at most so long. */
  async readAll(withinMs: number, isNoUse: () => boolean = () => false): Promise<void> {
    for (const end = performance.now() + withinMs; performance.now() < end && !isNoUse();) {
      await this.read();
      if (this.unanswered.length === 0) return;
      await delay(retryMs);
    }
  }

  async #send(message: NewMessage): Promise<boolean> {
    const signal = AbortSignal.timeout(requestLimitMs);
    const status = await this.#host.post(bodyOf(message), signal).then(
      async (answer) => {
        await answer.arrayBuffer();
        return answer.status;
      },
      () => undefined,
    );
    if (status !== undefined && [400, 401, 404, 413].includes(status))
      throw new Error(`${message.id} was refused for good, with ${status}`);
    return status === 202;
  }
}

/** Messages of each group, in order. */
export interface Plan {
  readonly groups: readonly string[];
  /** The text of the group's next message; undefined: it has said everything. */
  readonly next: (group: string, index: number) => string | undefined;
  /** Percentage of messages cut off after sending. */
  readonly cutPercent: number;
  /** Milliseconds between two messages of a group. */
  readonly pauseMs: () => number;
}

/** All groups speak at once; resolves when everything is acknowledged. */
export async function speakInAll(client: Client, plan: Plan, random: Random): Promise<void> {
  const speak = async (group: string): Promise<void> => {
    for (let index = 0; ; index += 1) {
      const text = plan.next(group, index);
      if (text === undefined) return;
      const message = { group, id: `${group}-${index}`, text };
      if (random.chance(plan.cutPercent)) await client.sayAndHangUp(message);
      await client.say(message);
      await delay(plan.pauseMs());
    }
  };
  await Promise.all(plan.groups.map(speak));
}

function bodyOf({ group, id, text }: NewMessage): object {
  return { id, group, sender: { id: "ann", name: "Ann" }, text };
}

/** Turns of all groups, by the host. */
export async function listTurns(host: TestHost, groups: readonly string[]): Promise<ListedTurn[]> {
  const turns: ListedTurn[] = [];
  for (const group of groups) {
    turns.push(...(await host.control.call(listSome, { group, limit: 1_000 })));
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
