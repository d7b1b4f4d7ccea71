import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/**
 * A git repository with skills, and a folder for PATH in which `git` notes each of its clones before it does its work.
 */
export interface SkillRepository {
  readonly address: string;
  readonly path: string;
  /** Commits what each of these skills now says. */
  write(skills: Readonly<Record<string, string>>): Promise<void>;
  clones(): Promise<number>;
}

export async function skillRepository(folder: string): Promise<SkillRepository> {
  const repository = join(folder, "repository");
  const log = join(folder, "clones");
  const bin = join(folder, "bin");
  await mkdir(repository, { recursive: true });
  await mkdir(bin, { recursive: true });
  const { PATH = "" } = process.env;
  const script = `#!/bin/sh\ncase " $* " in *" clone "*) echo x >> '${log}';; esac\nPATH='${PATH}'; exec git "$@"\n`;
  await writeFile(join(bin, "git"), script, { mode: 0o755 });
  await writeFile(log, "");
  const git = (...args: string[]) =>
    run("git", ["-C", repository, "-c", "user.name=a", "-c", "user.email=a@b", ...args]);
  await git("init", "-q");
  return {
    address: `file://${repository}`,
    path: `${bin}:${PATH}`,
    write: async (skills) => {
      for (const [name, says] of Object.entries(skills)) {
        await mkdir(join(repository, "skills", name), { recursive: true });
        const text = `---\nname: ${name}\ndescription: Makes ${name}.\n---\n${says}\n`;
        await writeFile(join(repository, "skills", name, "SKILL.md"), text);
      }
      await git("add", ".");
      await git("commit", "-qm", "x");
    },
    clones: async () => (await readFile(log, "utf8")).split("x").length - 1,
  };
}
