import type { LoginEvent } from "../../channel.ts";
import type { AccountState } from "./account-state.ts";
import type { WhatsAppConnectionOptions } from "./connection.ts";
import { type WorkerOptions, WorkerProcess } from "../process/worker-process.ts";
import type { EndReport, StartOrder } from "../../../processes/message-schemas.ts";

/** The server has accepted the new device and wants it to log in. */
const linked = 515;

const reasons: Readonly<Record<number, string>> = {
  408: "nobody linked the account in time; start again",
  405: "WhatsApp refuses this client's version; update crabpot, or set channels.whatsapp.version",
};

/**
 * Shows codes until the account is linked or WhatsApp has no more of them; rejects with the reason if it comes to
 * nothing.
 */
export async function* linkAccount(
  options: WhatsAppConnectionOptions,
  state: AccountState,
  order: StartOrder,
  signal: AbortSignal,
): AsyncGenerator<LoginEvent> {
  const events = new Events();
  const { variables, logger, limits } = options;
  await using worker = new WorkerProcess({ ...handlersFor(events, state, options), variables, logger, limits });
  void worker.exited.then((reason) => events.end({ code: 0, reason: reason.message }));
  const leave = (): void => events.end({ code: 0, reason: "linking was abandoned" });
  signal.addEventListener("abort", leave);
  if (signal.aborted) leave();
  try {
    worker.start(order).catch((error: unknown) => events.end({ code: 0, reason: String(error) }));
    for (let event = await events.next(); event !== undefined && !signal.aborted; event = await events.next())
      yield event;
  } finally {
    signal.removeEventListener("abort", leave);
  }
  const { code, reason } = await events.ended;
  if (code !== linked && !signal.aborted)
    throw new Error(reasons[code] ?? `the account could not be linked: ${reason}`);
}

const nothing = (): void => undefined;

function handlersFor(
  events: Events,
  { keys }: AccountState,
  { logger }: WhatsAppConnectionOptions,
): Pick<WorkerOptions, "answers" | "listeners"> {
  return {
    answers: {
      readKeys: (names) => keys.read(names),
      applyKeys: (changes) => keys.apply(changes),
      // A device that has not logged in gets no messages and sends none.
      arrived: async () => Promise.reject(new Error("the account is not linked yet")),
      isOwn: async () => false,
      sentBody: async () => undefined,
      keepSent: async () => undefined,
    },
    listeners: {
      qr: (qr) => events.add({ qr }),
      pairingCode: (pairingCode) => events.add({ pairingCode }),
      ended: (report) => events.end(report),
      log: ({ level, text }) => logger[level]({ channel: "whatsapp" }, text),
      opened: nothing,
      delivered: nothing,
      groupChanged: nothing,
      named: nothing,
    },
  };
}

/** A queue of the worker's events, read one by one. */
class Events {
  readonly ended: Promise<EndReport>;
  readonly #waiting: LoginEvent[] = [];
  readonly #end = Promise.withResolvers<EndReport>();
  #isEnded = false;
  #news = Promise.withResolvers<void>();

  constructor() {
    this.ended = this.#end.promise;
  }

  add(event: LoginEvent): void {
    this.#waiting.push(event);
    this.#tell();
  }

  /** The first end counts. */
  end(report: EndReport): void {
    this.#isEnded = true;
    this.#end.resolve(report);
    this.#tell();
  }

  /** Undefined at the end. */
  async next(): Promise<LoginEvent | undefined> {
    while (this.#waiting.length === 0 && !this.#isEnded) await this.#news.promise;
    return this.#waiting.shift();
  }

  #tell(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }
}
