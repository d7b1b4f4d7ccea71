import { rm } from "node:fs/promises";
import { join } from "node:path";

import type { Attack } from "../suite/attack.ts";
import { isSoon } from "../suite/waiting.ts";

const inside = "/workspace/extra/app";

/** Files that programs of the operator's read by themselves are put into a writable mount; each must be on record. */
function planted(id: string, title: string, paths: readonly string[], make?: string): Attack {
  return {
    id,
    title: `planted in a writable mount: ${title}`,
    from: "container",
    expected: "each is on record with its path",
    audit: { type: "execution-point", where: ({ data }) => data["path"] === paths[0] },
    attempt: async (stage) => {
      const { seq } = (await stage.recordsAfter(0)).at(-1) ?? { seq: 0 };
      const tops = [...new Set(paths.map((path) => path.split("/")[0] ?? ""))];
      const write = paths.map((path) => `mkdir -p "$(dirname '${path}')"; echo evil > '${path}'`).join("\n");
      await stage.shell("mounts", `cd ${inside} && ${make ?? write}`);
      const untold = async (): Promise<readonly string[]> => {
        const told = (await stage.recordsAfter(seq)).filter(({ type }) => type === "execution-point");
        return paths.filter((path) => !told.some(({ data }) => data["path"] === path));
      };
      await isSoon(async () => (await untold()).length === 0);
      const missing = await untold();
      const root = join(stage.playground.userHome, "projects/app");
      for (const top of tops) await rm(join(root, top), { recursive: true, force: true });
      return { seen: missing.join(", ") || `${paths.length} on record`, holds: missing.length === 0 };
    },
  };
}

export const attacks: readonly Attack[] = [
  planted("A40", "orders and servers for coding agents", [
    "docs/CLAUDE.md",
    "sub/AGENTS.override.md",
    ".mcp.json",
    ".roo/mcp.json",
    ".kiro/hooks/on-save.kiro.hook",
    ".github/copilot-instructions.md",
  ]),
  planted("A41", "hooks of managers of hooks", [
    "lefthook-local.yml",
    ".pre-commit-config.yaml",
    ".githooks/post-merge",
  ]),
  planted("A42", "what shells and their helpers read in a folder", [
    ".envrc",
    "sub/.mise.local.toml",
    ".tool-versions",
  ]),
  planted("A43", "configuration of editors", ["x.code-workspace", ".nvim.lua", ".zed/tasks.json", "deep/down/.exrc"]),
  planted("A44", "modules that Python loads by itself", ["sitecustomize.py", "lib/evil.pth", "tests/conftest.py"]),
  planted("A45", "configuration of linters and tests, which is code", [
    "eslint.config.mjs",
    "vitest.config.ts",
    ".prettierrc.cjs",
    "pytest.ini",
  ]),
  planted("A46", "what builds, packages and containers are made by", [
    "Makefile",
    "sub/GNUmakefile",
    ".mvn/extensions.xml",
    "compose.override.yaml",
    "Justfile",
  ]),
  planted("A47", "workflows of servers that build", [".github/workflows/x.yml", ".gitlab-ci.yml", "Jenkinsfile.evil"]),
  planted(
    "A48",
    "programs: a file that may be run, and one with a shebang, under harmless names",
    ["notes.txt", "photo.jpg"],
    "printf 'evil' > notes.txt; chmod +x notes.txt; printf '#!/bin/sh\\necho evil\\n' > photo.jpg",
  ),
  planted(
    "A49",
    "a repository without .git, as a bare one, whose configuration runs a program",
    ["plain/config"],
    "mkdir -p plain/objects plain/refs plain/worktree; echo 'ref: refs/heads/main' > plain/HEAD; " +
      "printf '[core]\\nbare = false\\nworktree = worktree\\nfsmonitor = touch /tmp/evil\\n' > plain/config",
  ),
  planted(
    "A50",
    "the same names in other letters, moved there from elsewhere and linked there",
    ["MAKEFILE", ".EnvRC", "claude.MD"],
    "echo evil > a; mv a MAKEFILE; echo evil > b; ln b .EnvRC; rm b; echo evil > /tmp/c; cp /tmp/c claude.MD",
  ),
];
