import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { stop } from "esbuild";
import { afterEach, expect, test } from "vitest";

import { findAgentImage } from "../../src/sandbox/images/agent-image.ts";
import { testContainer } from "../support/engine.ts";
import { smallCheckout } from "../support/small-checkout.ts";
import { onDisk, temporaryFolder } from "../support/temporary-folder.ts";

// Set-up is its own program, and leaves its service to the end of that.
afterEach(() => stop());

test("the image has the agent's program and files, and the host finds it by what set-up wrote down", async () => {
  await using checkout = await smallCheckout();
  const record = await checkout.build("hello");

  const found = await findAgentImage(checkout.engine, checkout.folder);
  const show = ["sh", "-c", "node /opt/agent.cjs && cat /opt/note.txt"];
  await using container = await testContainer(checkout.engine, found.id, show);
  const output = await checkout.engine.attach(container.id);
  await checkout.engine.start(container.id);

  expect(found).toMatchObject({ id: record.id, tag: `crabpot-agent:${record.inputs.slice(0, 16)}` });
  expect(await text(output)).toBe("hello\na file of the image");
});

test("nothing is built when nothing has changed", async () => {
  await using checkout = await smallCheckout();
  const first = await checkout.build("same");

  const second = await checkout.build("same");

  expect(first.words).toBe(`${first.tag} built`);
  expect(second).toEqual({ ...first, words: `${first.tag} is up to date` });
});

test("another file, another name", async () => {
  await using checkout = await smallCheckout();
  const first = await checkout.build("same");
  await writeFile(join(checkout.folder, "container", "image", "note.txt"), "changed");

  const second = await checkout.build("same");

  expect(second.tag).not.toBe(first.tag);
});

test("packages that the operator wants besides are installed as well; what is no package's name is refused", async () => {
  await using checkout = await smallCheckout();
  const plain = await checkout.build("same");

  const more = await checkout.build("same", { CRABPOT_IMAGE_PACKAGES: " pandoc, ffmpeg pandoc" });
  const wrong = checkout.build("same", { CRABPOT_IMAGE_PACKAGES: "ffmpeg; reboot" });

  await expect(wrong).rejects.toThrow('CRABPOT_IMAGE_PACKAGES: "ffmpeg;" is not the name of a package.');
  expect((await checkout.engine.image(more.tag))?.labels["packages"]).toBe("bash ffmpeg pandoc");
  expect((await checkout.build("same")).tag).toBe(plain.tag);
});

test("the image before is removed, unless a container or another checkout uses it", async () => {
  await using checkout = await smallCheckout();
  await using other = await smallCheckout();
  const unused = await checkout.build("unused");
  const usedByContainer = await checkout.build("used by a container");
  await using container = await testContainer(checkout.engine, usedByContainer.id, ["true"]);
  const usedByOther = await other.build("used by another checkout");
  const same = await checkout.build("used by another checkout");

  const last = await checkout.build("last");

  expect(container.id).not.toBe("");
  expect(same.id).toBe(usedByOther.id);
  expect(usedByContainer.words).toContain(`removed ${unused.tag}`);
  expect(await checkout.engine.image(unused.id)).toBeUndefined();
  for (const kept of [usedByContainer, usedByOther, last]) {
    expect(await checkout.engine.image(kept.id)).toMatchObject({ id: kept.id });
  }
});

test("a build that fails is an error with the engine's words, and the image before stays in use", async () => {
  await using checkout = await smallCheckout();
  const before = await checkout.build("good");
  await writeFile(
    join(checkout.folder, "Dockerfile.agent"),
    'ARG BASE_IMAGE=none\nARG PACKAGES="bash"\nFROM ${BASE_IMAGE}\nRUN echo trouble ahead && false\n',
  );

  await expect(checkout.build("good")).rejects.toThrow(/could not build crabpot-agent:.*returned a non-zero code: 1/s);

  expect(await findAgentImage(checkout.engine, checkout.folder)).toMatchObject({ id: before.id });
});

test("without set-up, or when the image was removed since, the host is told to run set-up", async () => {
  await using checkout = await smallCheckout();
  const { engine } = checkout;
  await using empty = await temporaryFolder(onDisk);
  await checkout.build("here");

  const away = { image: async () => undefined };

  await expect(findAgentImage(engine, empty.path)).rejects.toMatchObject({
    code: "image_missing",
    fix: "npm run setup",
  });
  await expect(findAgentImage(away, checkout.folder)).rejects.toMatchObject({
    code: "image_missing",
    fix: "npm run setup",
  });
});
