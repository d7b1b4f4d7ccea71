import { copyFile, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { BlobFolder } from "../../../../src/stores/blobs/blob-folder.ts";
import { keepPicture } from "../../../../src/abilities/media/keep-picture.ts";
import { HostileFolder } from "../../../../src/lib/files/open-hostile-file.ts";
import { mebibyte } from "../../../../src/lib/text/bytes.ts";
import { openMedia } from "../../../support/open-media.ts";
import { makePicture } from "../../../support/picture-files.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

/** `PICTURES=1000` measures more of them than every run can. */
const pictures = Number(process.env["PICTURES"] ?? 100);

async function heldMb(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid ?? 0}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}

test("however many pictures come, the host holds none of them, and the process that reads them no more than a few", async () => {
  await using root = await temporaryFolder();
  await using media = await openMedia();
  const folder = join(root.path, "blobs");
  await mkdir(folder);
  await makePicture(root.path, "convert", "-size", "900x700", "plasma:", "photo.jpg");
  await copyFile(join(root.path, "photo.jpg"), join(root.path, "first.jpg"));
  const blobs = await BlobFolder.open({ folder, clock: { now: () => Date.now() } });
  const keep = async (): Promise<void> => {
    await using hostile = await HostileFolder.open(root.path);
    const copy = (target: string) => hostile.copyFile("photo.jpg", target, { maxBytes: 64_000_000 });
    const kept = await keepPicture({ ...media, blobs }, { group: "family", name: "photo.jpg", copy });
    if (typeof kept === "string") throw new Error(kept);
  };
  const opened = media.media as { readonly pid?: number };
  for (let count = 0; count < 20; count += 1) await keep();
  const before = { host: process.memoryUsage().rss, process: await heldMb(opened.pid) };

  for (let count = 20; count < pictures; count += 1) await keep();

  const [hostMb, processMb] = [
    (process.memoryUsage().rss - before.host) / mebibyte,
    (await heldMb(opened.pid)) - before.process,
  ];
  if (pictures > 100)
    process.stdout.write(`${pictures} pictures: host ${hostMb} MiB more, process ${processMb} MiB more\n`);
  expect(media.told).toHaveLength(pictures);
  expect(hostMb).toBeLessThan(64);
  expect(processMb).toBeLessThan(128);
});
