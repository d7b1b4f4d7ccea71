import { writeFileSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { stripVTControlCharacters } from "node:util";

import { BrowserSession } from "./browser-session.ts";
import { chromiumFolder } from "./launch.ts";
import type { BrowserAnswer, BrowserRequest, DriverOptions } from "./requests.ts";

/*
 * Drives a browser for the agent in a separate process, so that a browser taken over by a page stays out of the agent.
 * Reads requests from standard input, one per line, and answers on standard output. Ends with its input.
 */

const { promise: over, resolve: end } = Promise.withResolvers<void>();

/** Long enough for what Playwright says before it lists what it has tried. */
const maxErrorChars = 600;

/** Its processes come and go with its pages. */
const offerMs = 500;

const options = JSON.parse(process.argv[2] ?? "{}") as DriverOptions;
let session: Promise<BrowserSession> | undefined;

async function answer(request: BrowserRequest): Promise<BrowserAnswer> {
  try {
    session ??= BrowserSession.start({ ...options, ended: end });
    return { id: request.id, ...(await (await session).do(request)) };
  } catch (error) {
    const isStuck = await session?.then((one) => one.isStuck()).catch(() => false);
    if (isStuck !== true) return { id: request.id, isError: true, text: wordsOf(error) };
    const text = "The page has crashed or does not answer anymore, so the browser was closed: open another page.";
    return { id: request.id, isError: true, isLast: true, text };
  }
}

function wordsOf(thrown: unknown): string {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const host = /ERR_(?:TUNNEL_CONNECTION_FAILED|PROXY_\w+) at (\S+)/.exec(message)?.[1];
  if (host !== undefined)
    return `${host} cannot be reached: the group's way out refuses it, or the server does not answer. Only hosts of network.allow can be opened.`;
  // A log of each attempt is behind it.
  const [said = ""] = stripVTControlCharacters(message).split(/\n(?:Call log:|Browser logs:|\s*╔)/);
  return said.slice(0, maxErrorChars);
}

async function run(): Promise<void> {
  const offering = setInterval(() => void offerBrowser(), offerMs);
  await over;
  clearInterval(offering);
  lines.close();
  process.stdin.destroy();
  // Then nothing is left that would keep this process; the agent ends one that hangs.
  await session?.then((one) => one.close()).catch(() => undefined);
}

/**
 * If the container runs out of memory, the browser ends, and nothing else. Chromium gives its processes other numbers
 * as it starts them, by which a page with several could have the agent ended.
 */
async function offerBrowser(): Promise<void> {
  for (const pid of await readdir("/proc").catch(() => [])) {
    if (!/^\d+$/.test(pid)) continue;
    const command = await readFile(`/proc/${pid}/cmdline`, "latin1").catch(() => "");
    if (command.startsWith(chromiumFolder))
      await writeFile(`/proc/${pid}/oom_score_adj`, "1000").catch(() => undefined);
  }
}

try {
  // If the container runs out of memory, this and the browser end, and nothing else.
  writeFileSync("/proc/self/oom_score_adj", "1000");
} catch {
  // A kernel without it.
}
const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => {
  void answer(JSON.parse(line) as BrowserRequest).then((said) => process.stdout.write(`${JSON.stringify(said)}\n`));
});
lines.on("close", end);
void run();
