// First: see there.
// oxlint-disable-next-line import/no-unassigned-import -- it only has an effect
import "./without-compiling.ts";

import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import type { AgentPayload } from "../../src/protocol/messages.ts";
import { Browser } from "./browser/browser.ts";
import { Jobs } from "./jobs/jobs.ts";
import { StandardLoop } from "./loops/standard.ts";
import type { AgentOptions } from "./options.ts";
import { createReadPage } from "./page-reading.ts";
import { ResultFiles } from "./result-files.ts";
import { PersistentShell } from "./shell/persistent-shell.ts";
import { ToolOutputFolder } from "./tool-output-folder.ts";
import { containerTools } from "./tools/catalog.ts";
import { Toolbox } from "./tools/toolbox.ts";
import { TurnDispatcher } from "./turn-dispatcher.ts";

/** Time for children to end before the process ends anyway. */
const endMs = 3_000;

interface WorkOptions {
  readonly send: (payload: AgentPayload) => Promise<void>;
  /** The host can no longer be told anything. */
  readonly onFailure: (error: unknown) => void;
  readonly onShutdown: () => void;
  readonly log: (text: string) => void;
}

/** The part of the agent that works on turns, with its tools. */
export interface AgentWork extends AsyncDisposable {
  readonly dispatcher: TurnDispatcher;
}

/** Makes it ready for turns; nothing runs yet. */
export function openAgentWork(options: AgentOptions, { send, onFailure, onShutdown, log }: WorkOptions): AgentWork {
  const { home, environment, workspace, inContainer } = options;
  const ofShells = { workingDirectory: workspace, environment, temporary: home };
  const jobs = new Jobs({ folder: join(home, "jobs"), shell: ofShells, send, onFailure });
  const shell = new PersistentShell({ ...ofShells, ownsPidNamespace: inContainer, spared: () => jobs.marks() });
  const outputs = new ToolOutputFolder(join(home, "tool-output"));
  const files = new ResultFiles(options.toHost);
  const browser = new Browser(options);
  const paths = { home, workingDirectory: () => shell.workingDirectory };
  const place = { browser, shell, jobs, outputs, paths, files, environment };
  const toolbox = new Toolbox({ tools: containerTools, place, readPage: createReadPage({ ...options, outputs }), log });
  const dispatcher = new TurnDispatcher({
    loop: new StandardLoop(toolbox),
    onTurnStart: (turn) => {
      files.clear();
      jobs.turnBegins(turn.id, turn.jobs);
    },
    onJobStop: (job) => void jobs.stop(job, false),
    startDirectory: workspace,
    directory: () => shell.directory(),
    send,
    onFailure,
    onShutdown,
  });
  return {
    dispatcher,
    [Symbol.asyncDispose]: async () => {
      browser[Symbol.dispose]();
      const ended = Promise.all([shell[Symbol.asyncDispose](), jobs[Symbol.asyncDispose]()]);
      await Promise.race([ended, delay(endMs)]);
    },
  };
}
