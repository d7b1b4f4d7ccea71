import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";

import { pack } from "tar-fs";

import { checkoutFolder } from "./engine.ts";
import { temporaryFolder } from "./temporary-folder.ts";

export interface NpmRegistry extends AsyncDisposable {
  /** Environment in which npm asks nobody else, and keeps what it gets apart from what the machine has. */
  readonly variables: Readonly<Record<string, string>>;
  /** Names of the packages that were asked for. */
  readonly asked: readonly string[];
}

interface Manifest {
  readonly name: string;
  readonly version: string;
}

/**
 * npm's registry on this machine, with the packages that the checkout has for its tests, in the versions that are
 * there, and those in `folders`.
 */
export async function npmRegistry(folders: readonly string[] = []): Promise<NpmRegistry> {
  await using stack = new AsyncDisposableStack();
  const home = stack.use(await temporaryFolder());
  const asked: string[] = [];
  const known = new Map<string, Map<string, string>>();
  const all = [...packageFolders(join(checkoutFolder, "node_modules")), ...folders];
  for (const folder of all) {
    const { name, version } = await manifestOf(folder);
    known.set(name, (known.get(name) ?? new Map<string, string>()).set(version, folder));
  }
  const server = createServer((request, response) => {
    const [name = "", version] = (request.url ?? "").slice(1).split("/-/").map(decodeURIComponent);
    const folder = known.get(name)?.get(version ?? "");
    const answer = async (): Promise<void> => {
      if (folder !== undefined) return void response.end(await archiveOf(folder));
      const of = known.get(name);
      if (!of) return void response.writeHead(404).end("{}");
      asked.push(name);
      response.end(JSON.stringify(await describe(name, of, request.headers.host ?? "")));
    };
    answer().catch((error: unknown) => response.destroy(error as Error));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  stack.defer(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  const settings = join(home.path, "npmrc");
  await writeFile(settings, "");
  const owned = stack.move();
  return {
    asked,
    variables: {
      HOME: home.path,
      npm_config_registry: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      npm_config_userconfig: settings,
      npm_config_cache: join(home.path, "cache"),
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function describe(name: string, versions: ReadonlyMap<string, string>, host: string): Promise<object> {
  const found: Record<string, object> = {};
  for (const [version, folder] of versions) {
    const integrity = `sha512-${createHash("sha512")
      .update(await archiveOf(folder))
      .digest("base64")}`;
    const tarball = `http://${host}/${encodeURIComponent(name)}/-/${version}`;
    found[version] = { ...(await manifestOf(folder)), dist: { tarball, integrity } };
  }
  return { name, "dist-tags": { latest: [...versions.keys()][0] }, versions: found };
}

/** Those of a folder `node_modules`, with those inside of them. */
function packageFolders(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => !name.startsWith("."));
  return entries.flatMap(({ name }) => {
    const path = join(folder, name);
    if (name.startsWith("@")) return packageFolders(path);
    return existsSync(join(path, "package.json")) ? [path, ...packageFolders(join(path, "node_modules"))] : [];
  });
}

async function manifestOf(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as Manifest;
}

/** Made once. */
function archiveOf(folder: string): Promise<Buffer> {
  const known = archives.get(folder) ?? makeArchive(folder);
  archives.set(folder, known);
  return known;
}

const archives = new Map<string, Promise<Buffer>>();

async function makeArchive(folder: string): Promise<Buffer> {
  const tar = pack(folder, {
    ignore: (path) => path.startsWith(join(folder, "node_modules")),
    map: (header) => ({ ...header, name: `package/${header.name}`, mtime: new Date(0), uid: 0, gid: 0 }),
  });
  return gzipSync(await buffer(tar), { level: 1 });
}
