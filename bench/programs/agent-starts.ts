/*
 * Run in a container of the agent image, given as text: starts an empty Node and the agent by turns. Prints a JSON
 * array of pairs, in milliseconds of processor time of all threads: an empty Node's until it runs its script, the
 * agent's until it is ready.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";

const mail = "/tmp/mail";
const [runs = "1"] = process.argv.slice(1);

function cpuMs({ pid }: ChildProcess): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const spent = threads.map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]),
  );
  return spent.reduce((sum, ns) => sum + ns, 0) / 1e6;
}

async function emptyNode(): Promise<number> {
  const waits = "require('node:fs').writeSync(1, 'x'); setTimeout(() => {}, 1e9)";
  const child = spawn("node", ["-e", waits], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  const spent = cpuMs(child);
  child.kill("SIGKILL");
  await once(child, "close");
  return spent;
}

async function agent(): Promise<number> {
  rmSync(mail, { recursive: true, force: true });
  for (const name of ["to-agent", "to-host"]) mkdirSync(`${mail}/${name}`, { recursive: true });
  const words = ["CRABPOT_GENERATION=1", "node", "/opt/crabpot/start.cjs", "--mail", mail];
  const child = spawn("env", words, { stdio: ["ignore", "ignore", "inherit"] });
  const ended = once(child, "close");
  while (!readdirSync(`${mail}/to-host`).some((name) => name.endsWith(".json"))) {
    if (child.exitCode !== null) throw new Error(`the agent ended with ${child.exitCode}`);
    await new Promise((next) => setTimeout(next, 1));
  }
  const spent = cpuMs(child);
  child.kill("SIGKILL");
  await ended;
  return spent;
}

const pairs: [number, number][] = [];
for (let run = 0; run < Number(runs); run += 1) pairs.push([await emptyNode(), await agent()]);
process.stdout.write(JSON.stringify(pairs));
