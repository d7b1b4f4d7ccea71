import { once } from "node:events";
import { createServer } from "node:http";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";

import { pack } from "tar-fs";

/** Address of this machine reachable from builds; undefined without a network. */
export function ownAddress(): string | undefined {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.find(({ family, internal }) => family === "IPv4" && !internal)?.address;
}

export interface EvilRegistry extends AsyncDisposable {
  readonly url: string;
}

/** A registry of npm in which each package, whatever its name, runs this script when it is installed. */
export async function openEvilRegistry(host: string, script: string): Promise<EvilRegistry> {
  const server = createServer((request, response) => {
    const [, name = "", file] = decodeURIComponent(request.url ?? "").split("/");
    const manifest = { name, version: "1.0.0", scripts: { postinstall: "sh ./install.sh" } };
    const answer = async (): Promise<void> => {
      if (file !== undefined) return void response.end(await tarballOf(manifest, script));
      const dist = { tarball: `${urlOf()}${name}/package.tgz` };
      const text = { name, "dist-tags": { latest: "1.0.0" }, versions: { "1.0.0": { ...manifest, dist } } };
      response.end(JSON.stringify(text));
    };
    answer().catch(() => response.destroy());
  });
  const urlOf = (): string => `http://${host}:${(server.address() as AddressInfo).port}/`;
  server.listen(0, host);
  await once(server, "listening");
  return {
    url: urlOf(),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function tarballOf(manifest: object, script: string): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), "crabpot-evil-"));
  try {
    await mkdir(join(folder, "package"));
    await writeFile(join(folder, "package", "package.json"), JSON.stringify(manifest));
    await writeFile(join(folder, "package", "install.sh"), script);
    return gzipSync(await buffer(pack(folder)));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
