import { spawn } from "node:child_process";
import { once } from "node:events";
import { glob, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";

const checkout = resolve(import.meta.dirname, "../..");
const suite = join(checkout, "node_modules/@modelcontextprotocol/conformance/dist/index.js");

/** The suite's own limit of 30 s would blame the client for a busy machine. */
const limitMs = "300000";

/** One thing that the suite looks at. */
interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
  readonly description?: string;
}

/** Result of a scenario. */
export interface Outcome {
  readonly scenario: string;
  readonly passed: boolean;
  /** Things that were as they should be. */
  readonly succeeded: number;
  readonly faults: readonly string[];
  /** All that the suite and the client have said. */
  readonly output: string;
}

/** Every scenario for clients that the suite has. */
export async function clientScenarios(): Promise<string[]> {
  const { output } = await runSuite(["list", "--client"], checkout);
  return [...output.matchAll(/^ {2}- (\S+)/gm)].map(([, name = ""]) => name);
}

/** Has the suite examine our client. A warning counts as a fault. */
export async function examine(scenario: string): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), "crabpot-conformance-"));
  try {
    const command = `${process.execPath} ${relative(folder, join(import.meta.dirname, "client.ts"))}`;
    const args = ["client", "--command", command, "--scenario", scenario, "--output-dir", folder, "--timeout", limitMs];
    const { code, output } = await runSuite(args, folder);
    const checks = await readChecks(folder);
    const faults = checks.filter(({ status }) => status === "FAILURE" || status === "WARNING").map(describe);
    const succeeded = checks.filter(({ status }) => status === "SUCCESS").length;
    const passed = code === 0 && faults.length === 0 && succeeded > 0;
    return { scenario, passed, succeeded, faults, output };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function describe({ id, status, errorMessage, description = "" }: Check): string {
  return `${status} ${id}: ${errorMessage ?? description}`;
}

async function readChecks(folder: string): Promise<readonly Check[]> {
  for await (const file of glob("**/checks.json", { cwd: folder }))
    return JSON.parse(await readFile(join(folder, file), "utf8")) as Check[];
  return [];
}

async function runSuite(args: readonly string[], cwd: string): Promise<{ code: number; output: string }> {
  const child = spawn(process.execPath, [suite, ...args], { cwd, stdio: ["ignore", "pipe", "pipe"] });
  const chunks: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  const [code] = (await once(child, "close")) as [number | null];
  return { code: code ?? 1, output: Buffer.concat(chunks).toString("utf8") };
}
