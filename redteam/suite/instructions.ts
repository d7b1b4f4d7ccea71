import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { AppError } from "../../src/lib/app-error.ts";
import type { InContainer, Stage, StageGroup } from "./stage.ts";
import { isSoon } from "./waiting.ts";

/** Edits a group's AGENTS.md as editors do: a new file takes the place of the old one. */
export async function editInstructions(stage: Stage, group: StageGroup, text: string): Promise<void> {
  const file = join(stage.groupFolder(group), "AGENTS.md");
  await writeFile(`${file}.edited`, text, { mode: 0o644 });
  await rename(`${file}.edited`, file);
}

/** Has other instructions while `action` runs, in a conversation that begins with them. */
export async function withInstructions<Result>(
  stage: Stage,
  { group, text }: { readonly group: StageGroup; readonly text: string },
  action: () => Promise<Result>,
): Promise<Result> {
  const kept = await readFile(join(stage.groupFolder(group), "AGENTS.md"), "utf8");
  await editInstructions(stage, group, text);
  try {
    await stage.ask(group, "/new");
    return await action();
  } finally {
    await editInstructions(stage, group, kept);
  }
}

/** Exchanges the file atomically, because the host would restore a missing one. */
const exchange = `python3 -c '
import ctypes, os, time
def strike():
    if os.path.lexists("evil"): return ctypes.CDLL(None).renameat2(-100, b"evil", -100, b"AGENTS.md", 2) == 0
    try: os.unlink("AGENTS.md")
    except OSError: return False
    return True
while not strike(): time.sleep(0.01)'; rm -rf evil`;

/**
 * The moment for which an agent has to wait: the operator edits its instructions, which takes the mount away from the
 * container that runs. `strike`: what its shell does in the group's folder as soon as it can, once what the shell has
 * made as `evil`, if anything, stands in the file's place; `rounds` commands follow in the same turn.
 */
export async function attackDuringEdit(
  stage: Stage,
  {
    make = "true",
    strike = "true",
    text,
    rounds = 10,
  }: { readonly make?: string; readonly strike?: string; readonly text: string; readonly rounds?: number },
): Promise<InContainer> {
  const folder = stage.groupFolder("red");
  const wait = `cd /workspace/group; ${make}; (touch waits; ${exchange}; ${strike}; touch struck) >/dev/null 2>&1 & sleep 0.1`;
  const more = Array.from({ length: rounds }, (_, index) => `sleep 0.2 # ${index}`);
  const turn = stage.shell("red", wait, "cd /workspace/group; until [ -e struck ]; do sleep 0.05; done", ...more);
  await untilThere(folder, "waits");
  await editInstructions(stage, "red", text);
  const result = await turn;
  await rm(join(folder, "waits"), { force: true });
  await rm(join(folder, "struck"), { force: true });
  return result;
}

/** The next container is a new one; what was moved aside is removed. */
export async function restoreInstructions(stage: Stage, text: string): Promise<void> {
  await stage.stopContainers("red");
  const folder = stage.groupFolder("red");
  for (const name of await readdir(folder)) {
    if (name.startsWith("AGENTS.md")) await rm(join(folder, name), { recursive: true, force: true });
  }
  await editInstructions(stage, "red", text);
}

async function untilThere(folder: string, name: string): Promise<void> {
  if (!(await isSoon(async () => (await readdir(folder)).includes(name), 20)))
    throw new AppError("not_found", `${name} was never there.`);
}
