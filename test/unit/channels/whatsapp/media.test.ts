import { createCipheriv, createHash, createHmac, hkdfSync, randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";

import { expect, test } from "vitest";

import { fetchMedia } from "../../../../src/channels/whatsapp/incoming/media.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { testAuthority, tlsServer } from "../../../support/tls-authority.ts";
import type { MediaReference } from "../../../../src/processes/message-schemas.ts";

const content = Buffer.alloc(100_000, "content ");

/** A file as a sender encrypts it. */
function encrypted(plain: Buffer): { readonly file: Buffer; readonly reference: MediaReference } {
  const mediaKey = randomBytes(32);
  const keys = Buffer.from(hkdfSync("sha256", mediaKey, "", "WhatsApp Image Keys", 112));
  const [iv, cipherKey, macKey] = [keys.subarray(0, 16), keys.subarray(16, 48), keys.subarray(48, 80)];
  const cipher = createCipheriv("aes-256-cbc", cipherKey, iv);
  const bytes = Buffer.concat([cipher.update(plain), cipher.final()]);
  const mac = createHmac("sha256", macKey).update(iv).update(bytes).digest().subarray(0, 10);
  const reference: MediaReference = {
    kind: "image",
    keyWord: "Image",
    directPath: "/v/file?ccb=1",
    mediaKey: mediaKey.toString("base64"),
    sha256: createHash("sha256").update(plain).digest("base64"),
    mimeType: "image/png",
  };
  return { file: Buffer.concat([bytes, mac]), reference };
}

/** Fetches a file from a server that answers with `served`. */
async function fetchFrom(
  served: Buffer,
  reference: MediaReference,
  options: { limitBytes?: number; hosts?: (port: number) => string[] } = {},
): Promise<{ readonly bytes: Buffer; readonly asked: string[] }> {
  const authority = await testAuthority();
  setDefaultCACertificates([...getCACertificates("default"), authority.certificate]);
  const asked: string[] = [];
  await using server = await tlsServer(authority, "localhost", (request, response) => {
    asked.push(request.url ?? "");
    response.end(served);
  });
  await using folder = await temporaryFolder();
  const path = join(folder.path, "file");
  const { limitBytes = content.length, hosts = (port) => [`localhost:${port}`] } = options;
  await fetchMedia(reference, { path, limitBytes, hosts: hosts(server.port) }, AbortSignal.timeout(120_000));
  return { bytes: await readFile(path), asked };
}

test("a file comes from the hosts that WhatsApp names, the next one if the first is away", async () => {
  const { file, reference } = encrypted(content);

  const { bytes, asked } = await fetchFrom(file, reference, { hosts: (port) => ["localhost:1", `localhost:${port}`] });

  expect(bytes.equals(content)).toBe(true);
  expect(asked).toEqual(["/v/file?ccb=1"]);
});

test("a file that was changed on its way, or is another one than announced, is refused", async () => {
  const { file, reference } = encrypted(content);
  const changed = Buffer.from(file);
  changed[50] = (changed[50] ?? 0) ^ 1;
  const other = createHash("sha256").update("other").digest("base64");

  await expect(fetchFrom(changed, reference)).rejects.toThrow(/changed on its way/);
  await expect(fetchFrom(file.subarray(0, 1_000), reference)).rejects.toThrow(/changed on its way/);
  await expect(fetchFrom(Buffer.alloc(3), reference)).rejects.toThrow(/changed on its way/);
  await expect(fetchFrom(file, { ...reference, sha256: other })).rejects.toThrow(/not the one that was announced/);
});

test("a file that is larger than the limit is not read to its end, whatever its sender says", async () => {
  const { file, reference } = encrypted(content);

  await expect(fetchFrom(file, reference, { limitBytes: 50_000 })).rejects.toThrow(/too large/);
  await expect(fetchFrom(file, { ...reference, bytes: 200_000 })).rejects.toThrow(/larger than/);
});

test.each(["@elsewhere.example/x", "elsewhere.example/x", "", ":1/x"])(
  "the path %j leads to no other host",
  async (directPath) => {
    const { file, reference } = encrypted(content);

    await expect(fetchFrom(file, { ...reference, directPath })).rejects.toThrow(/location is unknown/);
  },
);
