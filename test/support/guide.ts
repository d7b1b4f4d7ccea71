import { execFile } from "node:child_process";
import { cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";

import { errorCode, toError } from "../../src/lib/app-error.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const run = promisify(execFile);
const checkout = resolve(import.meta.dirname, "../..");

/** A block of a guide that makes a file (`ts`) or changes one (`diff`). */
export interface GuideBlock {
  readonly kind: "ts" | "diff";
  readonly file: string;
  readonly text: string;
}

/** Reads the blocks of a guide that name their file, such as ```` ```ts file=src/a.ts ````. */
export async function blocksOf(guide: string): Promise<GuideBlock[]> {
  const text = await readFile(join(checkout, "docs/guides", guide), "utf8");
  const found = text.matchAll(/^```(ts|diff) file=(\S+)\n([^]*?)^```$/gm);
  return [...found].map(([, kind, file = "", code = ""]) => ({
    kind: kind === "diff" ? "diff" : "ts",
    file,
    text: code,
  }));
}

/** A copy of the sources, to which blocks are applied. Packages are those of the checkout. */
export interface TreeCopy extends AsyncDisposable {
  readonly path: string;
  apply(block: GuideBlock): Promise<void>;
  /** Checks the types of the host. Rejects with what is wrong. */
  checkTypes(): Promise<void>;
}

/** Copies the sources as they are in the checkout, committed or not. */
export async function copyTree(): Promise<TreeCopy> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryFolder());
  const listed = await run("git", ["ls-files", "-coz", "--exclude-standard", "--deduplicate"], {
    cwd: checkout,
    maxBuffer: 64 * 1024 * 1024,
  });
  const files = listed.stdout.split("\0").filter((file) => file !== "" && !file.startsWith("docs/"));
  for (const file of [...files, "dist/agent-image.json"]) {
    await mkdir(join(folder.path, dirname(file)), { recursive: true });
    // A file that was removed and not committed yet is still listed.
    await cp(join(checkout, file), join(folder.path, file), { verbatimSymlinks: true }).catch(ignoreMissing);
  }
  await symlink(join(checkout, "node_modules"), join(folder.path, "node_modules"));
  const owned = stack.move();
  return {
    path: folder.path,
    apply: async ({ kind, file, text }) => {
      const path = join(folder.path, kind === "diff" ? "change.diff" : file);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text, kind === "diff" ? {} : { flag: "wx" });
      if (kind === "diff") await run("git", ["apply", path], { cwd: folder.path });
    },
    checkTypes: async () => {
      const config = {
        extends: "./tsconfig.json",
        compilerOptions: { tsBuildInfoFile: "./tsc.json" },
        include: ["src"],
      };
      await writeFile(join(folder.path, "tsconfig.copy.json"), JSON.stringify(config));
      const tsc = join(folder.path, "node_modules/typescript/bin/tsc");
      await run(process.execPath, [tsc, "--noEmit", "-p", "tsconfig.copy.json"], { cwd: folder.path }).catch(
        (error: { readonly stdout?: string }) => {
          throw new Error(error.stdout, { cause: error });
        },
      );
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function ignoreMissing(error: unknown): void {
  if (errorCode(error) !== "ENOENT") throw toError(error);
}
