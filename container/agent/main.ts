// First: see there.
import { options, probeOutput } from "./preload.ts";
// Then: see there, too.
// oxlint-disable-next-line import/no-unassigned-import -- it only has an effect
import "./without-compiling.ts";

import { existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

import { toError } from "./to-error.ts";
import { readJson } from "../../src/protocol/mailbox-json.ts";
import { type AgentPayload, type ProbeReport, probeReport } from "../../src/protocol/messages.ts";
import { egressProxy } from "../../src/protocol/paths.ts";
import { StandardLoop } from "./loops/standard.ts";
import { startForwarder } from "./forwarder.ts";
import { TurnDispatcher } from "./turn-dispatcher.ts";
import { AgentMailbox } from "./mailbox.ts";
import { Browser } from "./browser/browser.ts";
import { Jobs } from "./jobs/jobs.ts";
import { PersistentShell } from "./shell/persistent-shell.ts";
import { createReadPage } from "./page-reading.ts";
import { ResultFiles } from "./result-files.ts";
import { ToolOutputFolder } from "./tool-output-folder.ts";
import { containerTools } from "./tools/catalog.ts";
import { Toolbox } from "./tools/toolbox.ts";
import { join } from "node:path";

/** Time for children and a last message to the host before the process ends anyway. */
const endMs = 3_000;

/** Tells the host that we are ready and works until it says stop. Resolves with the exit code. */
async function runAgent(): Promise<number> {
  const { promise: ended, resolve: end } = Promise.withResolvers<number>();
  const ofShells = {
    workingDirectory: options.workspace,
    environment: options.environment,
    temporary: options.home,
  };
  const fail = (error: unknown): void => {
    log(toError(error).stack ?? String(error));
    end(1);
  };
  const mailbox = new AgentMailbox({
    ...options,
    onMessage: (payload) => dispatcher.accept(payload),
    isBusy: () => dispatcher.isBusy,
    onFailure: fail,
    log,
  });
  const send = (payload: AgentPayload): Promise<void> => mailbox.send(payload);
  const jobs = new Jobs({ folder: join(options.home, "jobs"), shell: ofShells, send, onFailure: fail });
  const shell = new PersistentShell({
    ...ofShells,
    ownsPidNamespace: options.inContainer,
    spared: () => jobs.marks(),
  });
  const outputs = new ToolOutputFolder(join(options.home, "tool-output"));
  const files = new ResultFiles(options.toHost);
  const { home, environment } = options;
  const paths = { home, workingDirectory: () => shell.workingDirectory };
  using browser = new Browser(options);
  const place = { browser, shell, jobs, outputs, paths, files, environment };
  const toolbox = new Toolbox({ tools: containerTools, place, readPage: createReadPage({ ...options, outputs }), log });
  const dispatcher = new TurnDispatcher({
    loop: new StandardLoop(toolbox),
    onTurnStart: (turn) => {
      files.clear();
      jobs.turnBegins(turn.id, turn.jobs);
    },
    onJobStop: (job) => void jobs.stop(job, false),
    send,
    onFailure: fail,
    onShutdown: () => end(0),
  });
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => end(0));
  try {
    if (existsSync(options.egressSocket)) {
      await startForwarder({ port: egressProxy.port, socketPath: options.egressSocket });
    }
    await mailbox.send({ type: "ready", probe: readProbeReport(await probeOutput) });
    mailbox.listen();
  } catch (error) {
    const text = `The agent cannot start: ${toError(error).message}`.slice(0, 4_000);
    await mailbox.send({ type: "log", level: "error", text }).catch(() => {});
    fail(error);
  }
  const code = await ended;
  mailbox[Symbol.dispose]();
  await endInTime([shell, jobs]);
  return code;
}

async function endInTime(children: readonly AsyncDisposable[]): Promise<void> {
  const ended = Promise.all(children.map((child) => child[Symbol.asyncDispose]()));
  await Promise.race([ended, delay(endMs)]);
}

/** Parses the image probe's report on this container. Throws for an invalid one. */
function readProbeReport(output: string): ProbeReport {
  const json = readJson(output);
  if (!json.ok) throw new Error(`The report of the probe cannot be read: ${json.reason}`);
  return probeReport.parse(json.value);
}

function log(text: string): void {
  process.stderr.write(`${text}\n`);
}

void runAgent().then((code) => process.exit(code));
