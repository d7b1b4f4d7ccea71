import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { pino } from "pino";
import { expect, test } from "vitest";

import { BlobFolder } from "../../../../src/stores/blobs/blob-folder.ts";
import { keepPicture } from "../../../../src/abilities/media/keep-picture.ts";
import { checkMedia } from "../../../../src/surfaces/cli/commands/doctor/agents/media.ts";
import { HostileFolder } from "../../../../src/lib/files/open-hostile-file.ts";
import { Media } from "../../../../src/abilities/media/media.ts";
import { pngOf } from "../../../support/picture-files.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const main = join(import.meta.dirname, "../../../fixtures/media/without-libraries.ts");

test("without sharp what all vendors take is shown as it came, and what is larger or of another kind is told", async () => {
  await using root = await temporaryFolder();
  const [folder, inbox] = [join(root.path, "blobs"), join(root.path, "inbox")];
  for (const path of [folder, inbox]) await mkdir(path);
  const blobs = await BlobFolder.open({ folder, clock: { now: () => Date.now() } });
  await using media = new Media({ folder: join(root.path, "media"), main });
  const options = { blobs, media, publish: async () => undefined, logger: pino({ level: "silent" }) };
  const png = pngOf("a cat", "taken at home");
  await writeFile(join(inbox, "cat.png"), png);
  await writeFile(join(inbox, "large.png"), Buffer.concat([png, Buffer.alloc(4_000_000)]));
  await writeFile(join(inbox, "new.heic"), Buffer.from("\0\0\0\x18ftypheic\0\0\0\0heicmif1", "latin1"));
  const keep = async (name: string) => {
    await using hostile = await HostileFolder.open(inbox);
    const copy = (target: string) => hostile.copyFile(name, target, { maxBytes: 64_000_000 });
    return await keepPicture(options, { group: "family", name, copy });
  };

  const kept = await keep("cat.png");

  expect(kept).toMatchObject({ kind: "image", mimeType: "image/png", bytes: png.length });
  expect(typeof kept === "object" && (await blobs.read(kept.blob)).equals(png)).toBe(true);
  const refusal =
    "the package sharp is not installed; without it only JPEG, PNG, GIF and WebP pictures of at most 3900000 bytes are shown";
  expect([await keep("large.png"), await keep("new.heic")]).toEqual([refusal, refusal]);
});

test("doctor says what is missing, and that nothing is", async () => {
  expect(await checkMedia(main)).toMatchObject({ level: "warning", detail: expect.stringContaining("sharp is not") });
  expect(await checkMedia()).toMatchObject({ level: "ok", detail: expect.stringContaining("including HEIC") });
});
