import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import { Jobs } from "../../container/agent/jobs/jobs.ts";
import { ResultFiles } from "../../container/agent/result-files.ts";
import { PersistentShell } from "../../container/agent/shell/persistent-shell.ts";
import { ToolOutputFolder } from "../../container/agent/tool-output-folder.ts";
import { containerTools } from "../../container/agent/tools/catalog.ts";
import type { ContainerTool, ToolEnvironment } from "../../container/agent/tools/tool.ts";
import type { TurnDispatcherOptions } from "../../container/agent/turn-dispatcher.ts";
import type { Session } from "../../src/domain/turns/session.ts";
import type { AgentPayload } from "../../src/protocol/messages.ts";
import { mailboxFolders } from "../../src/protocol/paths.ts";

/** The tools of an agent in the test's process, and what they work with. */
export interface AgentRoom extends AsyncDisposable, Pick<TurnDispatcherOptions, "onTurnStart" | "onJobStop"> {
  readonly tools: readonly ContainerTool[];
  readonly place: ToolEnvironment;
}

/** Makes the room of the agent of a group's session. */
export type OpenRoom = (
  about: { readonly group: string; readonly session: Pick<Session, "id" | "kind">; readonly mailFolder: string },
  send: (payload: AgentPayload) => Promise<void>,
) => Promise<AgentRoom>;

/** A room without tools: no call reaches any of its parts. */
export const emptyRoom: OpenRoom = async () => ({
  tools: [],
  place: {} as ToolEnvironment,
  [Symbol.asyncDispose]: async () => undefined,
});

/**
 * Rooms with the real tools but the browser, whose commands run on this machine: in the folder of the group, or a
 * sub-agent's scratch folder.
 */
export function roomsOnThisMachine(home: string): OpenRoom {
  return async ({ group, session: { id, kind }, mailFolder }, send) => {
    const workingDirectory = kind === "agent" ? join(home, "sessions", id, "scratch") : join(home, "groups", group);
    const agentHome = join(home, "..", "homes-of-agents", id);
    for (const folder of [workingDirectory, agentHome]) await mkdir(folder, { recursive: true });
    const environment = { PATH: process.env["PATH"] ?? "", HOME: agentHome, LANG: "C.UTF-8" };
    const ofShells = { workingDirectory, environment, temporary: agentHome };
    const jobs = new Jobs({ folder: join(agentHome, "jobs"), shell: ofShells, send, onFailure: () => undefined });
    const shell = new PersistentShell({ ...ofShells, ownsPidNamespace: false, spared: () => jobs.marks() });
    const files = new ResultFiles(join(mailFolder, mailboxFolders.toHost));
    const place = {
      shell,
      jobs,
      files,
      environment,
      browser: { ask: () => Promise.reject(new Error("there is no browser here")), close: async () => false },
      outputs: new ToolOutputFolder(join(agentHome, "tool-output")),
      paths: { home: agentHome, workingDirectory: () => shell.workingDirectory },
    };
    return {
      tools: containerTools,
      place,
      onTurnStart: (turn) => {
        files.clear();
        jobs.turnBegins(turn.id, turn.jobs);
      },
      onJobStop: (job) => void jobs.stop(job, false),
      [Symbol.asyncDispose]: async () => {
        await Promise.all([shell[Symbol.asyncDispose](), jobs[Symbol.asyncDispose]()]);
      },
    };
  };
}
