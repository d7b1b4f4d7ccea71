import { createHash } from "node:crypto";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { pack } from "tar-fs";
import { temporaryFolder } from "./temporary-folder.ts";

export interface SmallRegistry extends AsyncDisposable {
  /** `127.0.0.1:port`: engines speak plain HTTP with their own registries machine. */
  readonly address: string;
  /** Digest of the only image's manifest, served under every name. */
  readonly digest: string;
}

/** A registry on this machine with one image of one file. A silent one takes requests and never answers. */
export async function smallRegistry(options: { readonly isSilent: boolean }): Promise<SmallRegistry> {
  const { manifest, blobs } = await smallImage();
  const server = createServer((request, response) => {
    if (options.isSilent) return;
    const path = request.url ?? "";
    const blob = path.includes("/manifests/") ? manifest : blobs.get(path.split("/").at(-1) ?? "");
    if (path === "/v2/") response.writeHead(200).end("{}");
    else if (blob === undefined) response.writeHead(404).end();
    else {
      const headers = { "content-type": blob.type, "content-length": blob.bytes.length };
      response.writeHead(200, { ...headers, "docker-content-digest": digestOf(blob.bytes) });
      response.end(request.method === "HEAD" ? undefined : blob.bytes);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    digest: digestOf(manifest.bytes),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

interface Blob {
  readonly type: string;
  readonly bytes: Buffer;
}

async function smallImage(): Promise<{ manifest: Blob; blobs: ReadonlyMap<string, Blob> }> {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, "file.txt"), folder.path);
  const tar = await buffer(pack(folder.path));
  const layer = { type: "application/vnd.docker.image.rootfs.diff.tar.gzip", bytes: gzipSync(tar) };
  const config = json("application/vnd.docker.container.image.v1+json", {
    architecture: process.arch === "x64" ? "amd64" : process.arch,
    os: "linux",
    config: { Labels: { "crabpot.test": "pulled" } },
    rootfs: { type: "layers", diff_ids: [digestOf(tar)] },
  });
  const type = "application/vnd.docker.distribution.manifest.v2+json";
  const body = { schemaVersion: 2, mediaType: type, config: descriptor(config), layers: [descriptor(layer)] };
  return { manifest: json(type, body), blobs: new Map([config, layer].map((blob) => [digestOf(blob.bytes), blob])) };
}

function json(type: string, value: object): Blob {
  return { type, bytes: Buffer.from(JSON.stringify(value)) };
}

function descriptor({ type, bytes }: Blob): object {
  return { mediaType: type, size: bytes.length, digest: digestOf(bytes) };
}

function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}
