const singleFiles: Readonly<Record<string, string>> = {
  ".envrc": "direnv",
  ".exrc": "editor",
  ".gdbinit": "debugger",
  ".lefthook.yml": "git-hook",
  ".lldbinit": "debugger",
  ".mcp.json": "coding-agent",
  ".npmrc": "package-manager",
  ".pnpmfile.cjs": "package-manager",
  ".pre-commit-config.yaml": "git-hook",
  ".yarnrc": "package-manager",
  ".yarnrc.yml": "package-manager",
  "lefthook.yml": "git-hook",
};

/** Folder names whose files count; with a list, only those files. */
const folders: Readonly<Record<string, { readonly kind: string; readonly files?: readonly string[] }>> = {
  ".claude": { kind: "coding-agent", files: ["settings.json", "settings.local.json"] },
  ".devcontainer": { kind: "editor" },
  ".husky": { kind: "git-hook" },
  ".idea": { kind: "editor" },
  ".vscode": { kind: "editor", files: ["launch.json", "settings.json", "tasks.json"] },
};

/** Folders of a repository that hold names of branches or contents, which look like anything. */
const gitData = new Set(["logs", "objects", "refs"]);

/** Tests of the program `find` that every execution point passes, joined by "or". Others may pass them as well. */
export const executionPointTests: readonly (readonly string[])[] = [
  ["-name", ".git"],
  ["-path", "*/.git/*", "-path", "*hooks*"],
  ["-path", "*/.git/*", "-name", "config"],
  ["-path", "*/.git/*", "-name", "config.worktree"],
  ...Object.keys(singleFiles).map((name) => ["-name", name]),
  ...Object.keys(folders).map((name) => ["-path", `*/${name}/*`, "!", "-type", "d"]),
];

/**
 * Returns the kind of program that runs or reads an entry automatically: Git, editors, package managers. Undefined
 * otherwise. Build files (Makefile, package.json …) and `node_modules` are ordinary work: people run those on purpose.
 */
export function executionPointKind(path: string): string | undefined {
  const names = path.split("/");
  const last = names.at(-1) ?? "";
  if (names.includes("node_modules")) return undefined;
  const git = names.indexOf(".git");
  if (git >= 0) return gitKind(names.slice(git + 1));
  const folder = names.slice(0, -1).findLast((name) => Object.hasOwn(folders, name));
  const rule = folder === undefined ? undefined : folders[folder];
  if (rule !== undefined && (rule.files?.includes(last) ?? true)) return rule.kind;
  return Object.hasOwn(singleFiles, last) ? singleFiles[last] : undefined;
}

function gitKind(inside: readonly string[]): string | undefined {
  const last = inside.at(-1);
  // The repository itself, or a file that says where it is.
  if (last === undefined) return "git-folder";
  const isNested = ["modules", "worktrees"].includes(inside[0] ?? "");
  if (inside.some((name) => gitData.has(name))) return undefined;
  if (inside[0] === "hooks" || (isNested && inside.includes("hooks"))) {
    return last.endsWith(".sample") ? undefined : "git-hook";
  }
  const isConfig = last === "config" || last === "config.worktree";
  return isConfig && (inside.length === 1 || isNested) ? "git-config" : undefined;
}
