import { lchown, mkdir, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";

import type { Playground } from "./host.ts";

/** A mount that the group `mounts` asks for, and what it must get. */
export interface StageMount {
  readonly source: string;
  readonly target: string;
  readonly access: "ro" | "review" | "rw";
  readonly verdict: "ro" | "review" | "rw" | "denied";
}

/** Mounts of the group `mounts`, below the user's folder `home`. */
export function stageMounts(home: string): StageMount[] {
  const projects = join(home, "projects");
  const row = (
    source: string,
    target: string,
    verdict: StageMount["verdict"],
    access: StageMount["access"] = "rw",
  ): StageMount => ({
    source,
    target,
    access,
    verdict,
  });
  return [
    row(join(projects, "app"), "app", "rw"),
    row(join(projects, "reviewed"), "reviewed", "review", "review"),
    row(join(projects, "my.environment"), "my.environment", "ro", "ro"),
    row(join(projects, "..hidden"), "hidden", "ro", "ro"),
    row(join(projects, "credentials-guide"), "guide", "ro", "ro"),
    row(join(home, "docs"), "docs", "ro"),
    row(home, "whole-home", "denied"),
    row(join(home, "projects2"), "sibling", "denied"),
    row(join(projects, "to-ssh"), "to-ssh", "denied"),
    row(join(projects, "to-etc"), "to-etc", "denied"),
    row(join(projects, "holds-ssh"), "holds-ssh", "denied"),
    row(join(projects, "upper/.SSH"), "upper", "denied"),
    row(`${projects}/../.ssh`, "dots", "denied"),
    row(join(projects, "absent"), "absent", "denied"),
    row(join(projects, "file"), "file", "denied"),
    row(join(projects, "socket"), "socket", "denied"),
    row("/", "root", "denied"),
    row("/etc", "etc", "denied"),
    row("/proc", "proc", "denied"),
    row("/dev/null", "device", "denied"),
    row("/var/run/docker.sock", "engine", "denied"),
    row(join(home, "crab"), "own-home", "denied"),
    row(join(home, "crab/groups/blue"), "other-group", "denied"),
    row(join(home, "crab/audit"), "audit", "denied"),
    row(join(projects, "app"), "../../mail/to-host", "denied"),
    row(join(projects, "app"), "/etc", "denied"),
    row(join(projects, "app"), "a:b", "denied"),
    row(join(projects, "app"), "a\nb", "denied"),
    row(join(projects, "app"), ".", "denied"),
    row(join(projects, "app"), "a//b", "denied"),
    row(join(projects, "my.environment"), "app", "denied", "ro"),
  ];
}

/**
 * Makes the folders that the mounts name, and the allowlist that judges them. A folder that is granted belongs to no
 * root.
 */
export async function prepareMounts(
  { userHome }: Playground,
  canary: string,
): Promise<{ mounts: object[]; roots: object }> {
  const projects = join(userHome, "projects");
  for (const name of [
    "app",
    "reviewed/kept",
    "lent",
    "my.environment",
    "..hidden",
    "credentials-guide",
    "holds-ssh/deep/.ssh",
    "upper/.SSH",
  ]) {
    await mkdir(join(projects, name), { recursive: true });
  }
  for (const name of ["docs", "projects2"]) await mkdir(join(userHome, name));
  await writeFile(join(userHome, "projects2/secret"), canary);
  await writeFile(join(projects, "file"), "no folder");
  await symlink(join(userHome, ".ssh"), join(projects, "to-ssh"));
  await symlink("/etc", join(projects, "to-etc"));
  await leaveSocket(join(projects, "socket"));
  for (const name of ["reviewed/file", "reviewed/kept/inner"]) await writeFile(join(projects, name), "the operator's");
  for (const name of ["app", "lent", "reviewed", "reviewed/kept", "reviewed/file", "reviewed/kept/inner"]) {
    if (process.geteuid?.() === 0) await lchown(join(projects, name), 1234, 1234);
  }
  const roots = [
    { path: projects, access: "rw" },
    { path: join(userHome, "docs"), access: "ro" },
    { path: "/var/run", access: "rw" },
  ];
  const mounts = stageMounts(userHome).map(({ source, target, access }) => ({ source, target, access }));
  return { mounts, roots: { roots } };
}

/** Leaves a socket that nobody listens on, like a stale key agent's. */
async function leaveSocket(path: string): Promise<void> {
  const server = createServer();
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(path, resolve);
  await promise;
  server.unref();
}
