import { readdir, readFile } from "node:fs/promises";

/** The kernel counts processor time in hundredths of a second, on every Linux that there is. */
const tickMs = 10;

/** Milliseconds of processor time that a process has used so far, in the kernel and outside. */
export async function cpuMs(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * tickMs;
}

/** The same of all children that have ended and been waited for, and of theirs. */
export async function childrenCpuMs(): Promise<number> {
  const text = await readFile("/proc/self/stat", "utf8");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[13]) + Number(fields[14])) * tickMs;
}

/** All processes of a container, by its id in their cgroup. */
export async function processesOf(container: string): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const cgroups = await readFile(`/proc/${name}/cgroup`, "utf8").catch(() => "");
    if (cgroups.includes(container)) found.push(Number(name));
  }
  return found;
}

/** Timer wake-ups and other voluntary switches so far, of all threads. */
export async function voluntarySwitches(pid: number): Promise<number> {
  let total = 0;
  for (const thread of await readdir(`/proc/${pid}/task`)) {
    const text = await readFile(`/proc/${pid}/task/${thread}/status`, "utf8").catch(() => "");
    total += Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(text)?.[1] ?? 0);
  }
  return total;
}
