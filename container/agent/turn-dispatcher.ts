import type { HostPayload } from "../../src/protocol/messages.ts";
import type { AgentLoop } from "./loops/agent-loop.ts";
import { showScripts } from "./shell/scripts.ts";
import { Turn } from "./turn.ts";
import type { TurnStart, TurnSurroundings } from "./turn.ts";

export interface TurnDispatcherOptions extends TurnSurroundings {
  readonly loop: AgentLoop;
  /** Folder that shells start in. */
  readonly startDirectory: string;
  /** Called before anything of the turn, and after all of the previous one. */
  readonly onTurnStart?: (turn: Turn) => void;
  /** Called when the host wants this background job to end, in any turn. */
  readonly onJobStop?: (job: string) => void;
  /** The host can no longer be told anything. */
  readonly onFailure: (error: unknown) => void;
  readonly onShutdown: () => void;
}

type ScriptRequest = Extract<HostPayload, { type: "script-request" }>;

/**
 * Works on one turn at a time. A new one cancels the one before it, so that whatever came of that never blocks the
 * next.
 */
export class TurnDispatcher {
  readonly #options: TurnDispatcherOptions;
  #turn: Turn | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(options: TurnDispatcherOptions) {
    this.#options = options;
  }

  get isBusy(): boolean {
    return this.#turn !== undefined;
  }

  /** Takes a message of the host; returns at once. */
  accept(payload: HostPayload): void {
    if (payload.type === "shutdown") this.#options.onShutdown();
    else if (payload.type === "turn-start") this.#start(payload);
    else if (payload.type === "job-stop") this.#options.onJobStop?.(payload.job);
    else if (payload.turn !== this.#turn?.id) return;
    else if (payload.type === "cancel") this.#turn.cancel(payload.reason);
    else if (payload.type === "ping")
      this.#options.send({ type: "pong", turn: payload.turn }).catch(this.#options.onFailure);
    else if (payload.type === "script-request") this.#showScripts(payload).catch(this.#options.onFailure);
    else this.#turn.deliver(payload);
  }

  async #showScripts({ turn, request, directory, paths }: ScriptRequest): Promise<void> {
    const scripts = await showScripts(directory ?? this.#options.startDirectory, paths);
    await this.#options.send({ type: "scripts", turn, request, scripts });
  }

  #start(start: TurnStart): void {
    this.#turn?.cancel("another turn began");
    const turn = new Turn(start, this.#options);
    this.#turn = turn;
    this.#last = this.#last.then(() => this.#run(turn)).catch((error: unknown) => this.#options.onFailure(error));
  }

  async #run(turn: Turn): Promise<void> {
    this.#options.onTurnStart?.(turn);
    const end = await turn.run(this.#options.loop);
    // The host has begun another one, perhaps the same again: it must not take this end for that one's.
    if (this.#turn !== turn) return;
    this.#turn = undefined;
    await this.#options.send(end);
  }
}
