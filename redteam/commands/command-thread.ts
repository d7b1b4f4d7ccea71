import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { parentPort } from "node:worker_threads";

import { readEnvironment } from "../../src/config/environment.ts";
import { hostFunctions } from "../../src/host/host-functions.ts";
import { runCommandLine } from "../../src/surfaces/cli/command-line.ts";
import type { AskedCommand, EndedCommand } from "../suite/commands.ts";

/** Runs commands of crabpot as its program would, one beside the other. */
async function run({ number, variables, args }: AskedCommand): Promise<EndedCommand> {
  const output = new PassThrough();
  const printed = text(output);
  const streams = { stdin: Readable.from([]), stdout: output, stderr: output };
  const code = await runCommandLine(args, { environment: readEnvironment(variables), streams, hostFunctions });
  output.end();
  return { number, end: { code, output: await printed } };
}

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.on("message", (asked: AskedCommand) => void run(asked).then((ended) => parentPort?.postMessage(ended)));
