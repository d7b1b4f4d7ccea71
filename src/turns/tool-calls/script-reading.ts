import type { AgentPayload, HostPayload, ShownScript } from "../../protocol/messages.ts";

/** An agent reads scripts at once. */
const answerMs = 10_000;

/** Asks the agent of a turn what scripts hold, for people. */
export class ScriptReading {
  readonly #turn: string;
  readonly #send: (payload: HostPayload) => Promise<unknown>;
  readonly #waiting = new Map<number, (scripts: readonly ShownScript[]) => void>();
  #requests = 0;

  constructor(turn: string, send: (payload: HostPayload) => Promise<unknown>) {
    this.#turn = turn;
    this.#send = send;
  }

  /**
   * Asks about these files, whose paths are relative to the folder, or to the one that shells start in. Without an
   * answer in time they count as missing.
   */
  async read(directory: string | undefined, paths: readonly string[]): Promise<readonly ShownScript[]> {
    const { promise, resolve } = Promise.withResolvers<readonly ShownScript[]>();
    const request = (this.#requests += 1);
    this.#waiting.set(request, resolve);
    const timer = setTimeout(() => resolve([]), answerMs);
    try {
      const about = { turn: this.#turn, request, paths: [...paths] };
      await this.#send({ type: "script-request", ...about, ...(directory !== undefined && { directory }) });
      const shown = new Map((await promise).map((script) => [script.path, script]));
      return paths.map((path) => shown.get(path) ?? { path });
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(request);
    }
  }

  take({ request, scripts }: Extract<AgentPayload, { type: "scripts" }>): void {
    this.#waiting.get(request)?.(scripts);
  }
}
