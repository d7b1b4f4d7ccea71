import { execFileSync } from "node:child_process";
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { MountContext } from "../../src/sandbox/mounts/rules.ts";
import { onDisk, temporaryFolder } from "./temporary-folder.ts";

const folders = [
  "home/projects/app/src/deep",
  "home/projects/app/node_modules/some-config",
  "home/projects/my.environment",
  "home/projects/..hidden",
  "home/projects/credentials-guide",
  "home/projects/ssh",
  "home/projects/.sshd",
  "home/projects/config",
  "home/projects/.configuration",
  "home/projects/my-secrets",
  "home/projects/a:b",
  "home/projects/with blank",
  "home/projects/überraschung",
  "home/projects/keyed/sub/.ssh",
  "home/projects/shouting/.SSH",
  "home/projects/.AWS/inner",
  "home/projects/.config/inner",
  "home/projects/blocked/x/Secrets",
  "home/projects/secrets/inner",
  "home/projects/mixed/public",
  "home/projects/invisible/.s\u{200C}sh",
  "home/projects/cafe\u{301}s",
  "home/projects/accent/re\u{301}serve\u{301}",
  "home/projects2/app",
  "home/docs/handbook",
  "home/docs/drafts/new",
  "home/.ssh",
  "home/.local/share/keyrings/x",
  "home/.crabpot/groups/other",
  "home/elsewhere",
  "checkout/src",
];

/** A folder that is laid out like a machine: a home with projects and documents, crabpot's home, a checkout. */
export async function pretendMachine(): Promise<{ path: string; context: MountContext } & AsyncDisposable> {
  const folder = await temporaryFolder(onDisk);
  const at = (path: string) => join(folder.path, path);
  for (const path of folders) await mkdir(at(path), { recursive: true });
  await mkdir(at("crabpot-settings"), { mode: 0o700 });
  await writeFile(at("home/projects/file.txt"), "text");
  await mkdir(at("home/projects/netrc"));
  await writeFile(at("home/projects/netrc/.netrc"), "password");
  await symlink(at("home/.ssh"), at("home/projects/to-ssh"));
  await symlink("/etc", at("home/projects/to-etc"));
  await symlink(at("home/projects/app"), at("home/projects/to-app"));
  await symlink(at("home/projects/nowhere"), at("home/projects/dangling"));
  await symlink(at("home/projects/app"), at("home/elsewhere/to-app"));
  await mkdir(at("home/projects/linking"));
  await symlink(at("home/.ssh"), at("home/projects/linking/keys"));
  await chmod(at("home/projects"), 0o755);
  execFileSync("mkfifo", [at("home/projects/pipe")]);
  const context: MountContext = {
    allowlistPath: at("crabpot-settings/mounts.json"),
    homeFolder: at("home"),
    crabpotHome: at("home/.crabpot"),
    checkout: at("checkout"),
    hostUid: process.getuid?.() ?? 0,
  };
  await allow(context, {
    roots: [
      { path: "~/projects", access: "rw" },
      { path: "~/projects/mixed/public", access: "ro" },
      { path: "~/docs", access: "ro" },
      { path: "~/docs/drafts", access: "rw" },
      { path: "~/.crabpot", access: "rw" },
      { path: "~/.local", access: "rw" },
      { path: at("checkout"), access: "rw" },
      { path: "/var", access: "rw" },
      { path: "/run", access: "rw" },
      { path: "/etc", access: "rw" },
      { path: "/proc", access: "rw" },
      { path: "/dev", access: "rw" },
      { path: "/sys", access: "rw" },
      { path: "/root", access: "rw" },
      { path: "~/does-not-exist", access: "rw" },
    ],
    blocked: ["secrets", "R\u{C9}SERV\u{C9}"],
  });
  return { path: folder.path, context, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

/** Writes the allowlist of the pretended machine anew. */
export async function allow(context: MountContext, content: unknown): Promise<void> {
  await writeFile(context.allowlistPath, typeof content === "string" ? content : JSON.stringify(content), {
    mode: 0o600,
  });
}
