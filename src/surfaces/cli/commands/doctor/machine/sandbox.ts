import { randomBytes } from "node:crypto";
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

import * as z from "zod";

import type { Config } from "../../../../../config/schema/config.ts";
import { readInstance } from "../../../../../config/home/home.ts";
import type { HomePaths } from "../../../../../config/home/home.ts";
import { attest } from "../../../../../sandbox/attestation/attestation.ts";
import { readHostView } from "../../../../../sandbox/attestation/host.ts";
import { ContainerCgroups } from "../../../../../sandbox/cgroups/container-cgroups.ts";
import { containerUser } from "../../../../../sandbox/mounts/container-user.ts";
import type { ContainerEngine, CreateBody } from "../../../../../sandbox/engine/engine.ts";
import { containerSpec } from "../../../../../sandbox/launch/spec.ts";
import { toError } from "../../../../../lib/app-error.ts";
import { probeReport } from "../../../../../protocol/messages.ts";
import { containerPaths } from "../../../../../protocol/paths.ts";
import type { CheckResult } from "../check.ts";
import { bad, good } from "../check.ts";

/** Small, so that trying to break the limits is quick and harmless even where they do not hold. */
const memoryMb = 128;
const pids = 64;
const timeoutMs = 60_000;
/** The last number of the home's block of users: groups are numbered from 0. */
const doctorOrdinal = 999;

const limitReport = z.strictObject({ children: z.number(), memory: z.enum(["killed", "refused", "granted"]) });

/**
 * Script that runs instead of the agent: first the probe, then an attempt to start twice as many processes and use
 * twice as much memory as allowed. It stops there, so a missing limit does no harm.
 */
const script = `
import json, os, signal, subprocess, sys, time
sys.stdout.write(subprocess.run(["python3", "-I", "${containerPaths.probe}"], stdout=subprocess.PIPE, text=True).stdout.strip() + "\\n")
children = []
try:
    while len(children) < ${2 * pids}:
        child = os.fork()
        if child == 0:
            signal.pause()
        children.append(child)
except OSError:
    pass
for child in children:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
fill = "b = []\\nfor i in range(${2 * memoryMb}): b.append(b'x' * (1 << 20))"
code = subprocess.run(["python3", "-I", "-c", fill], stderr=subprocess.DEVNULL).returncode
memory = "granted" if code == 0 else "killed" if code == -9 else "refused"
print(json.dumps({"children": len(children), "memory": memory}), flush=True)
time.sleep(300)
`;

export interface SandboxOptions {
  readonly engine: ContainerEngine;
  readonly imageId: string;
  readonly sandbox: Config["sandbox"];
  readonly paths: HomePaths;
}

/**
 * Starts a real container with the hardened profile and asks three witnesses what came of it; removes it in any case.
 */
export async function checkSandbox(options: SandboxOptions): Promise<CheckResult> {
  const folder = await mkdtemp(join(tmpdir(), "crabpot-doctor-"));
  try {
    const body = await planContainer(options, folder);
    if (typeof body === "string") return bad("sandbox", body);
    const surprises = await runContainer(options.engine, body);
    if (surprises.length === 0) {
      return good("sandbox", "A container with the hardened profile ran, and everything forbidden was refused.");
    }
    const fix = "Run no agents on this engine before this is resolved; see docs/security.md.";
    return bad("sandbox", surprises.join(" "), fix);
  } catch (error) {
    return bad("sandbox", `Could not start a container: ${toError(error).message}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Plan {
  readonly name: string;
  readonly body: CreateBody;
}

async function planContainer(
  { engine, imageId, sandbox, paths }: SandboxOptions,
  folder: string,
): Promise<Plan | string> {
  const image = await engine.image(imageId);
  if (image === undefined) return `The image ${imageId} is missing.`;
  // Under the home's own label, so that the next start sweeps away what a doctor that was killed left behind.
  const instance = (await readInstance(paths.instance)) ?? randomBytes(8).toString("hex");
  const hostUid = process.geteuid?.() ?? 0;
  const choice = containerUser({ ordinal: doctorOrdinal, instance, grantedMounts: [], hostUid });
  if ("refused" in choice) return choice.refused;
  const folders = {
    group: join(folder, "group"),
    global: join(folder, "global"),
    toAgent: join(folder, "to-agent"),
    toHost: join(folder, "to-host"),
  };
  for (const path of Object.values(folders)) {
    await mkdir(path);
    await chmod(path, 0o777);
  }
  const spec = containerSpec({
    image,
    user: choice.user,
    instance,
    group: "doctor",
    session: `doctor-${randomBytes(4).toString("hex")}`,
    generation: 1,
    sandbox: { ...sandbox, memoryMb, pids },
    folders,
    protectedFiles: [],
    granted: [],
  });
  return { name: spec.name, body: { ...spec.body, Cmd: ["python3", "-I", "-c", script] } };
}

/** Faults, one sentence each. */
async function runContainer(engine: ContainerEngine, { name, body }: Plan): Promise<string[]> {
  const id = await engine.create(name, body);
  try {
    const output = await engine.attach(id);
    await engine.start(id);
    const [probeLine, limitLine] = await firstLines(output, 2);
    const probe = probeReport.safeParse(JSON.parse(probeLine ?? "null"));
    if (!probe.success) return [`The probe in the container gave no report: ${probe.error.message}`];
    const inspection = await engine.inspect(id);
    if (inspection === undefined) return ["The container disappeared."];
    const pid = (inspection["State"] as { Pid?: number } | undefined)?.Pid ?? 0;
    const hostView = await readHostView({ pid, cgroups: await ContainerCgroups.find(pid, id), targets: [] });
    const surprises = attest({ inspection, body, probe: probe.data, hostView, folders: [] });
    return [...surprises, ...judgeLimits(limitReport.parse(JSON.parse(limitLine ?? "null")))];
  } finally {
    await engine.remove(id);
  }
}

function judgeLimits({ children, memory }: z.infer<typeof limitReport>): string[] {
  const surprises: string[] = [];
  if (children >= pids) surprises.push(`It could start ${children} processes although ${pids} is the limit.`);
  if (memory === "granted") surprises.push(`It could use ${2 * memoryMb} MiB although ${memoryMb} MiB is the limit.`);
  return surprises;
}

/** Rejects when the output ends before, or when it takes too long. */
async function firstLines(output: Readable, count: number): Promise<string[]> {
  const lines: string[] = [];
  const timer = setTimeout(() => output.destroy(new Error(`it printed nothing for ${timeoutMs} ms`)), timeoutMs);
  try {
    for await (const line of createInterface({ input: output })) {
      lines.push(line);
      if (lines.length === count) return lines;
    }
    throw new Error(`it ended early with: ${lines.join(" ").slice(0, 300) || "no output"}`);
  } finally {
    clearTimeout(timer);
    output.destroy();
  }
}
