import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { type LaunchedBrowser, loadPlaywright } from "./playwright.ts";

/** Folder of its programs. */
export const chromiumFolder = "/usr/lib/chromium/";
const program = `${chromiumFolder}chromium`;
const usualAuthorities = "/etc/ssl/certs/ca-certificates.crt";
/** Maximum certificate authorities: the home's, and those that the host trusts additionally. */
const mostAuthorities = 32;

export interface LaunchOptions {
  /** Egress proxy for all requests, also those to this machine. */
  readonly proxy: string;
  /** Certificates that programs of the container are to trust. */
  readonly certificates: string | undefined;
  readonly home: string;
  readonly folder: string;
}

/**
 * Starts the browser. `chromium-policy.json` of the image says what it may not: above all, to hide from the host which
 * server it asks for. Its own sandbox needs rights that no process of the container has; what holds is the container,
 * in which there is nothing but the group's own.
 */
export async function launchBrowser({ proxy, certificates, home, folder }: LaunchOptions): Promise<LaunchedBrowser> {
  if (certificates !== undefined) await trustCertificates(certificates, home);
  await mkdir(folder, { recursive: true });
  return loadPlaywright().chromium.launch({
    executablePath: program,
    chromiumSandbox: false,
    proxy: { server: proxy },
    downloadsPath: folder,
    timeout: 30_000,
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    args: [
      // The container's shared memory is small; this takes its temporary folder instead.
      "--disable-dev-shm-usage",
      "--disable-gpu",
      "--disable-breakpad",
      "--disable-component-update",
      "--disable-domain-reliability",
      "--disk-cache-size=33554432",
      "--renderer-process-limit=3",
      "--js-flags=--max-old-space-size=256",
    ],
  });
}

/** Chromium knows certificates besides its own from a database in the home folder only. */
async function trustCertificates(file: string, home: string): Promise<void> {
  const database = join(home, ".pki", "nssdb");
  if (existsSync(database)) return;
  await mkdir(database, { recursive: true, mode: 0o700 });
  const run = promisify(execFile);
  const inDatabase = ["-d", `sql:${database}`];
  await run("certutil", [...inDatabase, "-N", "--empty-password"]);
  const usual = new Set(certificatesIn(await readFile(usualAuthorities, "utf8").catch(() => "")));
  const added = certificatesIn(await readFile(file, "utf8")).filter((certificate) => !usual.has(certificate));
  for (const [index, certificate] of added.slice(0, mostAuthorities).entries()) {
    const path = join(database, `${index}.pem`);
    await writeFile(path, certificate);
    await run("certutil", [...inDatabase, "-A", "-t", "C,,", "-n", `crabpot-${index}`, "-i", path]);
  }
}

function certificatesIn(text: string): string[] {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => block.replaceAll(/\s*\n\s*/g, "\n"));
}
