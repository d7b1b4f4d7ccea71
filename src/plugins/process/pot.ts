import { once } from "node:events";
import { realpath } from "node:fs/promises";
import type { Readable } from "node:stream";

import type { ProcessBody } from "../../processes/body.ts";
import { nodeOptions } from "../../processes/launch.ts";
import { containerPaths } from "../../protocol/paths.ts";
import type { OpenStdio, ServerEnd } from "../../sandbox/servers/server-streams.ts";
import { heapOf, keptVariables, type PluginLaunchOptions } from "./launch.ts";
import { withPluginLine } from "./pot-line.ts";

/** Opens the containers of plugins: with the walls of those of MCP servers. */
export type OpenPot = OpenStdio;

const lastMessagesMs = 500;

/**
 * Starts a plugin in its own container: it sees its folder, read-only, and nothing else of the machine; its
 * standard streams are the line, and its network the hosts that it named when it was installed. Rejects where there is
 * no engine, or no container that can be trusted.
 */
export async function startPot(
  open: OpenPot,
  { plugin, folder, entry, memoryMb, variables }: PluginLaunchOptions & { readonly plugin: string },
  signal: AbortSignal,
): Promise<ProcessBody> {
  const own = await realpath(folder);
  const { package: place, plugin: program } = containerPaths;
  const read = [place, program];
  const options = nodeOptions({ permissions: { read }, heap: heapOf(memoryMb) });
  const args = ["node", ...options, program, `${place}/${entry}`];
  const streams = await open(
    {
      server: { kind: "plugin", name: plugin, env: keptVariables(variables, ["TZ"]), memoryMb },
      program: async () => ({ command: withPluginLine, args, folder: own }),
    },
    undefined,
    signal,
  );
  // It may be gone before it has read everything.
  streams.input.on("error", () => undefined);
  return {
    input: streams.input,
    output: streams.output,
    pid: undefined,
    ended: streams.ended.then(async (end) => {
      await lastMessages(streams.output);
      return wordsOf(end);
    }),
    kill: () => void streams[Symbol.asyncDispose](),
    [Symbol.asyncDispose]: () => streams[Symbol.asyncDispose](),
  };
}

function wordsOf({ reason, lastLine }: ServerEnd): string {
  return lastLine === undefined ? reason : `${reason}: ${lastLine}`;
}

/** Waits for messages that it sent before its end and that arrive after it. */
async function lastMessages(output: Readable): Promise<void> {
  if (output.readableEnded || output.destroyed) return;
  await once(output, "close", { signal: AbortSignal.timeout(lastMessagesMs) }).catch(() => undefined);
}
