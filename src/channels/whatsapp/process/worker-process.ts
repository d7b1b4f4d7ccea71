import type { Logger } from "pino";

import { ownModule } from "../../../lib/process/own-module.ts";
import { LastWords } from "../../../processes/last-words.ts";
import type { Answers, Listeners } from "../../../processes/line.ts";
import type { StartOrder } from "../../../processes/message-schemas.ts";
import { OwnProcess, type ProcessLimits } from "../../../processes/own-process.ts";
import { whatsappWorker } from "../../../processes/protocol.ts";
import { workerVariables } from "./worker-variables.ts";

/** Limits on the worker that tests change. */
export type WorkerLimits = Pick<ProcessLimits, "beatMs" | "silenceMs" | "endMs">;

const workerLimits: ProcessLimits = {
  startMs: 60_000,
  beatMs: 10_000,
  silenceMs: 60_000,
  endMs: 2_000,
  messageBytes: 256 * 1024 * 1024,
  messagesPerSecond: 50_000,
  servedCalls: 10_000,
  openCalls: 10_000,
  waitingBytes: 64 * 1024 * 1024,
};

export interface WorkerOptions {
  readonly answers: Answers<typeof whatsappWorker.host>;
  readonly listeners: Listeners<typeof whatsappWorker.host>;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
  readonly limits?: WorkerLimits | undefined;
}

/**
 * The process in which the WhatsApp library runs: its arithmetic holds a process up, it prints keys, and a connection
 * of it can hang. What it prints is dropped, but for words that say why it died.
 */
export class WorkerProcess extends OwnProcess<typeof whatsappWorker> {
  readonly #lastWords: LastWords;

  constructor({ answers, listeners, variables, logger, limits }: WorkerOptions) {
    const known = workerVariables.flatMap((name): [string, string][] =>
      variables[name] ? [[name, variables[name]]] : [],
    );
    const env = Object.fromEntries(known);
    const output = new LastWords(Object.values(env));
    super({
      name: "the WhatsApp process",
      launch: { main: ownModule("worker", import.meta), env },
      protocol: whatsappWorker,
      answers,
      listeners,
      limits: { ...workerLimits, ...limits },
      output,
    });
    this.#lastWords = output;
    void this.exited.then(({ message }) => logger.debug({ channel: "whatsapp" }, message));
  }

  /** Connects, or links an account. */
  async start(order: StartOrder): Promise<void> {
    this.#lastWords.holdsKeys = true;
    await this.line.call("start", order);
  }
}
