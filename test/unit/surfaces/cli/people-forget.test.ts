import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";
import { stringify } from "yaml";

import { crabpot, crabpotProcess, jsonLines, newHome } from "../../../support/crabpot.ts";
import { openErasableHome } from "../../../support/erasable-home.ts";

test("without a host, a person is forgotten by the command line, also in a home of a program that embeds the host", async () => {
  await using place = await newHome();
  {
    await using home = await openErasableHome(place.home);
    const seq = await home.hear({ who: "ann", text: "my parrot is called Zebedee" });
    await home.answer([seq], { text: "Hello Zebedee." });
    await home.hear({ who: "bob", text: "mine is called Florence" });
  }
  // No program but the one that brings it knows this channel.
  const config = {
    channels: { fake: {} },
    people: { ann: { ids: ["fake:ann", "http:ann"] } },
    memory: { embeddings: "none" },
  };
  await writeFile(join(place.home, "config.yaml"), stringify(config), { mode: 0o600 });

  const asked = await crabpot(place, "people", "forget", "fake:ann");
  const unknown = await crabpot(place, "people", "forget", "fake:zed", "--yes", "--json");
  const wrong = await crabpot(place, "people", "forget", "ann", "--yes");
  const done = await crabpotProcess(place, "people", "forget", "fake:ann", "--yes", "--json");
  const again = await crabpot(place, "people", "forget", "fake:ann", "--yes", "--json");

  expect([asked.code, asked.stderr]).toEqual([3, ""]);
  expect(asked.stdout.split("\n")).toEqual([
    "Of fake:ann, http:ann in family:",
    "  would be erased: messages 1",
    "This cannot be undone.",
    "Nothing was changed. To proceed, run the same command with --yes.",
    "",
  ]);
  expect([unknown.code, wrong.code]).toEqual([1, 2]);
  expect(unknown.stderr).toContain("Nothing of fake:zed is in this home.");
  expect([done.code, done.stderr]).toEqual([0, ""]);
  expect(jsonLines(done.stdout)).toMatchObject([
    {
      state: "erased",
      ids: ["fake:ann", "http:ann"],
      groups: ["family"],
      erased: { messages: 1, replies: 1 },
      left: [],
    },
  ]);
  expect(jsonLines(again.stdout)).toMatchObject([{ state: "erased", erased: {} }]);
  await using home = await openErasableHome(place.home);
  expect(await home.find("Zebedee")).toEqual([]);
  expect(await home.find("mine is called Florence")).toEqual([home.paths.database]);
  expect((await crabpot(place, "audit", "verify")).code).toBe(0);
});

test("memory works in a home of a program that embeds the host, and says what is wrong with its own settings", async () => {
  await using place = await newHome({
    "config.yaml": stringify({ channels: { fake: {} }, memory: { embeddings: "none" } }),
  });
  const added = await crabpot(place, "memory", "add", "the boat is called Wanda", "--group", "family", "--json");
  const listed = await crabpot(place, "memory", "list", "--group", "family", "--json");
  await writeFile(
    join(place.home, "config.yaml"),
    stringify({ channels: { fake: {} }, memory: { embeddings: "some" } }),
  );
  const broken = await crabpot(place, "memory", "list", "--group", "family");

  expect([added.code, added.stderr]).toEqual([0, ""]);
  expect(jsonLines(listed.stdout)).toMatchObject([{ text: "the boat is called Wanda", category: "core" }]);
  expect(broken.code).toBe(2);
  expect(broken.stderr).toContain("memory.embeddings");
});
