import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { crc32, gzipSync } from "node:zlib";

import { pack } from "tar-fs";

import { openEngine, openImageBuilder } from "../../src/sandbox/engine/catalog.ts";
import { packageLabels, tagOfUser } from "../../src/sandbox/images/package-recipe.ts";
import { askEngine } from "./engine-api.ts";
import { surroundings } from "./engine.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** Files of a package by their path in it. */
export type PackageFiles = Readonly<Record<string, string>>;

export interface PackageMirror extends AsyncDisposable {
  /** Environment for a host whose builds use the mirror. */
  readonly variables: Readonly<Record<string, string>>;
  /** Names that were asked for. */
  readonly asked: readonly string[];
}

interface Offered {
  /** npm packages by name; `package.json` gets its name and version by itself. */
  readonly npm?: Readonly<Record<string, PackageFiles>>;
  /** Python packages by name, as a wheel holds them, but for the folder that says what they are. */
  readonly pip?: Readonly<Record<string, PackageFiles>>;
}

/**
 * Registries of npm and pip where builds of the engine of this machine reach them. Each package there has the version
 * 1.0.0.
 */
export async function packageMirror({ npm = {}, pip = {} }: Offered): Promise<PackageMirror> {
  const asked: string[] = [];
  const tarballs = new Map<string, Buffer>();
  for (const [name, files] of Object.entries(npm)) tarballs.set(name, await npmTarball(name, files));
  const answers = {
    npm: (name: string, file: string | undefined) => {
      const tarball = tarballs.get(name);
      return tarball && (file === undefined ? JSON.stringify(packument(name, tarball)) : tarball);
    },
    pip: (name: string, file: string | undefined) => {
      const wheel = pip[name];
      return wheel && (file ? wheelOf(name, wheel) : `<a href="${wheelName(name)}">${wheelName(name)}</a>`);
    },
  };
  const server = createServer((request, response) => {
    const [, kind, name = "", file] = decodeURIComponent(request.url ?? "").split("/");
    asked.push(name);
    const answer = kind === "npm" || kind === "pip" ? answers[kind](name, file) : undefined;
    response.setHeader("content-type", kind === "pip" && !file ? "text/html" : "application/octet-stream");
    if (answer === undefined) response.writeHead(404).end();
    else response.end(answer);
  });
  const host = await bridgeAddress();
  server.listen(0, host);
  await once(server, "listening");
  const url = `http://${host}:${(server.address() as AddressInfo).port}`;
  const packument = (name: string, tarball: Buffer): object => ({
    name,
    "dist-tags": { latest: "1.0.0" },
    versions: {
      "1.0.0": {
        ...manifestOf(name, npm[name] ?? {}),
        dist: { tarball: `${url}/npm/${name}/package.tgz`, integrity: `sha512-${digest(tarball, "sha512", "base64")}` },
      },
    },
  });
  return {
    variables: { npm_config_registry: `${url}/npm/`, PIP_INDEX_URL: `${url}/pip/`, PIP_TRUSTED_HOST: host },
    asked,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Address of this machine for containers on the engine's network. */
async function bridgeAddress(): Promise<string> {
  await using engine = await openEngine(surroundings);
  const { address } = await engine.facts();
  const answer = await askEngine(address.replace("unix://", ""), "GET", "/networks/bridge");
  const [, gateway] = /"Gateway":"([0-9.]+)"/.exec(answer) ?? [];
  // An engine that has made the bridge itself, at its first start, tells only the network: the bridge has its first
  // address.
  const [, subnet] = /"Subnet":"([0-9.]+)\.0\/[0-9]+"/.exec(answer) ?? [];
  const bridge = gateway ?? (subnet && `${subnet}.1`);
  if (bridge === undefined) throw new Error(`The engine's network bridge has no address: ${answer}`);
  return bridge;
}

function manifestOf(name: string, files: PackageFiles): object {
  return { name, version: "1.0.0", ...(JSON.parse(files["package.json"] ?? "{}") as object) };
}

async function npmTarball(name: string, files: PackageFiles): Promise<Buffer> {
  await using folder = await temporaryFolder();
  const place = join(folder.path, "package");
  await mkdir(place);
  const manifest = JSON.stringify(manifestOf(name, files));
  for (const [path, text] of Object.entries({ ...files, "package.json": manifest })) {
    await writeFile(join(place, path), text, { mode: 0o755 });
  }
  return gzipSync(await buffer(pack(folder.path)));
}

function wheelName(name: string): string {
  return `${name.replaceAll("-", "_")}-1.0.0-py3-none-any.whl`;
}

/** A zip archive whose files are stored as they are. */
function wheelOf(name: string, files: PackageFiles): Buffer {
  const info = `${name.replaceAll("-", "_")}-1.0.0.dist-info`;
  const all: Record<string, string> = {
    ...files,
    [`${info}/METADATA`]: `Metadata-Version: 2.1\nName: ${name}\nVersion: 1.0.0\n`,
    [`${info}/WHEEL`]: "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
  };
  const record = Object.keys(all).map((path) => `${path},,\n`);
  all[`${info}/RECORD`] = `${record.join("")}${info}/RECORD,,\n`;
  const locals: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const [path, text] of Object.entries(all)) {
    const [head, bytes] = [zipFields(path, Buffer.from(text)), Buffer.from(text)];
    const local = Buffer.concat([Buffer.from("504b0304", "hex"), head, Buffer.from(path), bytes]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(0o644 << 16, 6);
    tail.writeUInt32LE(offset, 10);
    central.push(Buffer.concat([Buffer.from("504b01021403", "hex"), head, tail, Buffer.from(path)]));
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(central.length, 8);
  end.writeUInt16LE(central.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end]);
}

/** From the version that is needed on to the length of what else there is. */
function zipFields(path: string, bytes: Buffer): Buffer {
  const fields = Buffer.alloc(26);
  fields.writeUInt16LE(20, 0);
  fields.writeUInt16LE(0x21, 8);
  fields.writeUInt32LE(crc32(bytes), 10);
  fields.writeUInt32LE(bytes.length, 14);
  fields.writeUInt32LE(bytes.length, 18);
  fields.writeUInt16LE(Buffer.byteLength(path), 22);
  return fields;
}

function digest(bytes: Buffer, algorithm: string, encoding: "base64"): string {
  return createHash(algorithm).update(bytes).digest(encoding);
}

/**
 * Removes the images that have a package with this text in its name; `keep`: not the one on this agent image, for the
 * next run.
 */
export async function removeImagesWith(text: string, keep?: string): Promise<void> {
  const builder = await openImageBuilder(surroundings);
  for (const { id, labels, tags } of await builder.list(packageLabels.hash)) {
    if (!labels[packageLabels.lists]?.includes(text)) continue;
    const isKept = labels[packageLabels.base] === keep;
    // What nobody uses is pruned by other tests.
    const kept = tagOfUser("tests", (labels[packageLabels.hash] ?? "").slice(0, 16));
    if (isKept) await builder.tag(id, kept);
    for (const tag of tags) if (!isKept || (tag.includes(":used-") && tag !== kept)) await builder.remove(tag);
  }
}
