import { join } from "node:path";

import { StandardLoop } from "../../container/agent/loops/standard.ts";
import { AgentMailbox } from "../../container/agent/mailbox.ts";
import { Toolbox } from "../../container/agent/tools/toolbox.ts";
import { TurnDispatcher } from "../../container/agent/turn-dispatcher.ts";
import type { Session } from "../../src/domain/turns/session.ts";
import type { ProbeReport } from "../../src/protocol/messages.ts";
import { mailboxFolders } from "../../src/protocol/paths.ts";
import type { ContainerExit } from "../../src/sandbox/engine/engine.ts";
import type { Launcher, RunningContainer } from "../../src/sandbox/pool/launch.ts";
import { emptyRoom, type OpenRoom } from "./agent-room.ts";
import { runningContainer } from "./container-parts.ts";

/** Nothing looks at it: what there is no container of is not attested. */
const probe: ProbeReport = {
  uid: 0,
  gid: 0,
  groups: [],
  capabilities: {},
  noNewPrivs: 1,
  seccomp: 2,
  interfaces: [],
  rootReadOnly: true,
  mounts: [],
  environment: [],
  attempts: [],
};

/**
 * Stands in for containers where thousands of turns are wanted: each session's agent is the real one, at the real
 * mailbox, in the test's own process. It has the tools of the host, and those of its room.
 */
export class AgentsInProcess implements Launcher {
  /** Number of starts, and maximum at once. */
  started = 0;
  most = 0;
  #running = 0;
  readonly #uid = process.getuid?.() ?? 0;
  readonly #openRoom: OpenRoom;

  constructor(openRoom: OpenRoom = emptyRoom) {
    this.#openRoom = openRoom;
  }

  get running(): number {
    return this.#running;
  }

  async fingerprint(): Promise<string> {
    return "";
  }

  async found(): Promise<[]> {
    return [];
  }

  async plan({ name }: { readonly name: string }, session: Pick<Session, "id" | "kind">) {
    return {
      uid: this.#uid,
      warnings: [],
      start: (generation: number, mailFolder: string) => this.#start({ group: name, session, mailFolder }, generation),
    };
  }

  async #start(about: Parameters<OpenRoom>[0], generation: number): Promise<RunningContainer> {
    const { mailFolder } = about;
    const room = await this.#openRoom(about, (payload) => mailbox.send(payload));
    this.started += 1;
    this.#running += 1;
    this.most = Math.max(this.most, this.#running);
    const exit = Promise.withResolvers<ContainerExit>();
    let hasEnded = false;
    const end = (): void => {
      if (hasEnded) return;
      hasEnded = true;
      this.#running -= 1;
      mailbox[Symbol.dispose]();
      exit.resolve({ code: 0, oomKilled: false });
    };
    const mailbox: AgentMailbox = new AgentMailbox({
      toAgent: join(mailFolder, mailboxFolders.toAgent),
      toHost: join(mailFolder, mailboxFolders.toHost),
      generation,
      rescanMs: undefined,
      onMessage: (payload) => dispatcher.accept(payload),
      isBusy: () => dispatcher.isBusy,
      onFailure: end,
      log: () => undefined,
    });
    const dispatcher = new TurnDispatcher({
      startDirectory: "shell" in room.place ? room.place.shell.startDirectory : "/",
      directory: async () => ("shell" in room.place ? room.place.shell.directory() : undefined),
      ...room,
      loop: new StandardLoop(new Toolbox({ ...room, readPage: async () => "", log: () => undefined })),
      send: (payload) => mailbox.send(payload),
      onFailure: end,
      onShutdown: end,
    });
    mailbox.listen();
    await mailbox.send({ type: "ready", probe }).catch((error: unknown) => {
      end();
      throw error;
    });
    return runningContainer({
      id: `agent-${this.started}`,
      name: `agent-${this.started}`,
      generation,
      uid: this.#uid,
      mailFolder,
      exited: exit.promise,
      remove: async () => {
        end();
        await room[Symbol.asyncDispose]();
      },
    });
  }
}

/** A launcher that runs the agents of these groups in this process, and those of the others in containers. */
export function agentsHereFor(
  groups: "all" | readonly string[],
  { containers, openRoom }: { readonly containers: Launcher; readonly openRoom?: OpenRoom },
): Launcher {
  const here = new AgentsInProcess(openRoom);
  const isHere = (group: string): boolean => groups === "all" || groups.includes(group);
  return {
    fingerprint: async (group, session) =>
      isHere(group.name) ? here.fingerprint() : containers.fingerprint(group, session),
    plan: async (group, session) => (isHere(group.name) ? here.plan(group, session) : containers.plan(group, session)),
    found: () => containers.found(),
  };
}
