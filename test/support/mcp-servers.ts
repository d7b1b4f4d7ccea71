import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { OpenStdio, ServerStreams } from "../../src/sandbox/servers/server-streams.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const program = join(import.meta.dirname, "../fixtures/mcp/server.ts");

/** Script of a test server; see the fixture. */
export interface ServerScript {
  readonly tools: readonly object[];
  readonly resources?: Readonly<Record<string, string>>;
  readonly noise?: readonly string[];
  readonly silent?: boolean;
}

/** Servers that are processes of the test's, in place of containers: by name, each with its script. */
export interface TestServers extends AsyncDisposable {
  readonly open: OpenStdio;
  /** Starts of each server. */
  readonly started: readonly string[];
  say(server: string, script: ServerScript): Promise<void>;
  /** Received messages, in order. */
  heard(server: string): readonly { readonly method?: string; readonly params?: Readonly<Record<string, unknown>> }[];
}

export function aTool(name: string, more: object = {}): object {
  return {
    name,
    description: `Does ${name}.`,
    inputSchema: { type: "object", properties: { text: { type: "string" } } },
    ...more,
  };
}

export async function openTestServers(scripts: Readonly<Record<string, ServerScript>>): Promise<TestServers> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryFolder());
  const started: string[] = [];
  const fileOf = (server: string): string => join(folder.path, `${server}.json`);
  const say = async (server: string, script: ServerScript): Promise<void> => {
    await writeFile(`${fileOf(server)}.new`, JSON.stringify(script));
    // Its file is watched by name: writing over it is seen, and never half of it is read twice.
    if (existsSync(fileOf(server))) await writeFile(fileOf(server), JSON.stringify(script));
    else await rename(`${fileOf(server)}.new`, fileOf(server));
  };
  for (const [server, script] of Object.entries(scripts)) await say(server, script);
  const open: OpenStdio = async ({ server: { name } }) => {
    started.push(name);
    return openProcess(fileOf(name));
  };
  const heard: TestServers["heard"] = (server) => {
    const log = `${fileOf(server)}.log`;
    if (!existsSync(log)) return [];
    const lines = readFileSync(log, "utf8").trim().split("\n");
    return lines.map((line) => JSON.parse(line) as ReturnType<TestServers["heard"]>[number]);
  };
  const owned = stack.move();
  return { open, started, say, heard, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

function openProcess(file: string): ServerStreams {
  const child = spawn(process.execPath, [program, file], { stdio: ["pipe", "pipe", "ignore"] });
  const ended = once(child, "exit").then(([code]: (number | null)[]) => ({
    exitCode: code ?? undefined,
    reason: `exit code ${code}`,
  }));
  return {
    input: child.stdin,
    output: child.stdout,
    ended,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
