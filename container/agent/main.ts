// First: see there.
import { options, probeOutput } from "./preload.ts";

import { existsSync } from "node:fs";

import { egressProxy } from "../../src/protocol/paths.ts";
import { AgentMailbox } from "./mailbox.ts";
import { readProbeReport } from "./probe-report.ts";
import { toError } from "./to-error.ts";
import type { AgentWork } from "./work.ts";

/**
 * Tells the host that we are ready and works until it says stop. What turns need is loaded once the host knows, while
 * it prepares the first one. Resolves with the exit code.
 */
async function runAgent(): Promise<number> {
  const { promise: ended, resolve: end } = Promise.withResolvers<number>();
  let work: AgentWork | undefined;
  const fail = (error: unknown): void => {
    log(toError(error).stack ?? String(error));
    end(1);
  };
  const mailbox = new AgentMailbox({
    ...options,
    onMessage: (payload) => work?.dispatcher.accept(payload),
    isBusy: () => work?.dispatcher.isBusy === true,
    onFailure: fail,
    log,
  });
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => end(0));
  try {
    if (existsSync(options.egressSocket)) {
      const { startForwarder } = await import("./forwarder.ts");
      await startForwarder({ port: egressProxy.port, socketPath: options.egressSocket });
    }
    await mailbox.send({ type: "ready", probe: readProbeReport(await probeOutput) });
    const { openAgentWork } = await import("./work.ts");
    work = openAgentWork(options, {
      send: (payload) => mailbox.send(payload),
      onFailure: fail,
      onShutdown: () => end(0),
      log,
    });
    mailbox.listen();
  } catch (error) {
    const text = `The agent cannot start: ${toError(error).message}`.slice(0, 4_000);
    await mailbox.send({ type: "log", level: "error", text }).catch(() => {});
    fail(error);
  }
  const code = await ended;
  mailbox[Symbol.dispose]();
  await work?.[Symbol.asyncDispose]();
  return code;
}

function log(text: string): void {
  process.stderr.write(`${text}\n`);
}

void runAgent().then((code) => process.exit(code));
