import { expect, test } from "vitest";

import { admin, openReviewRig } from "../../../../support/review-rig.ts";

type Rig = Awaited<ReturnType<typeof openReviewRig>>;

async function onlyCode(rig: Rig): Promise<string> {
  const open = await rig.open();
  expect(open).toHaveLength(1);
  return open[0]?.code ?? "";
}

test("a turn that changed files asks once: what changed, with the diff and how to answer", async () => {
  await using rig = await openReviewRig();
  await rig.begin({ "old.txt": "old\n", "main.ts": "one\ntwo\n" });

  await rig.turn({ "new/a.txt": "hello\n", "main.ts": "one\nthree\n", "old.txt": undefined });
  await rig.turn({});

  const code = await onlyCode(rig);
  const [text = "", ...more] = await rig.texts();
  expect(more).toEqual([]);
  expect(text).toContain(
    `the folder site: 1 added, 1 changed, 1 deleted. Nothing of it is in the real folder yet. Code ${code}\n`,
  );
  expect(text).toContain("~ main.ts\n+ new/a.txt\n- old.txt\n");
  expect(text).toContain("main.ts:\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n");
  expect(text).toContain(
    `Answer (admin or higher): /apply ${code} [path…] or /discard ${code} [path…], or react with 👍 (apply all)`,
  );
  expect(await rig.real("main.ts")).toBe("one\ntwo\n");
  expect(rig.told.map(({ type }) => type)).toEqual(["approval.asked"]);
});

test("a turn that leaves everything as it was asks nothing, and takes back what was asked", async () => {
  await using rig = await openReviewRig();
  await rig.turn({});
  expect(await rig.texts()).toEqual([]);

  await rig.turn({ "a.txt": "x" });
  const code = await onlyCode(rig);
  await rig.turn({ "a.txt": undefined });

  expect(await rig.open()).toEqual([]);
  expect((await rig.texts()).at(-1)).toBe(`${code} is no longer needed: nothing that is undecided is left in site.`);
});

test("a later turn replaces the card, and the old code says which one asks now", async () => {
  await using rig = await openReviewRig();
  await rig.turn({ "a.txt": "x" });
  const old = await onlyCode(rig);

  await rig.turn({ "b.txt": "y" });

  const code = await onlyCode(rig);
  expect(code).not.toBe(old);
  await expect(rig.answer(old, true)).rejects.toThrow(
    `${old} is no longer needed: the folder has changed again, and ${code} asks about all of it.`,
  );
  expect(await rig.real("a.txt")).toBeUndefined();
});

test("a path is applied alone, the same code discards the rest, and each is on record before it is done", async () => {
  await using rig = await openReviewRig();
  await rig.turn({ "one/path": "1", "one/other": "2", two: "3" });
  const code = await onlyCode(rig);

  await rig.answer(code, true, { paths: ["one/path"] });
  const between = [await rig.real("one/path"), await rig.real("one/other"), await rig.real("two")];
  await rig.answer(code, false);

  expect(between).toEqual(["1", undefined, undefined]);
  expect([await rig.real("one/other"), await rig.seen("one/other"), await rig.seen("two")]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(await rig.open()).toEqual([]);
  const [, applied, discarded] = await rig.texts();
  expect(applied).toBe(
    `Bob has applied one change in site (${code}-1). 2 changes still wait: ${code}.\n\`\`\`\none/path\n\`\`\``,
  );
  expect(discarded).toBe(`Bob has discarded 2 changes in site (${code}).\n\`\`\`\none/other\ntwo\n\`\`\``);
  expect(rig.told.map(({ type }) => type)).toEqual([
    "approval.asked",
    "approval.answered",
    "approval.decided",
    "review.begun",
    "review.ended",
    "approval.answered",
    "approval.decided",
    "review.begun",
    "review.ended",
  ]);
  expect(rig.told[3]?.data).toMatchObject({
    code: `${code}-1`,
    effect: "apply",
    changes: [{ path: "one/path", kind: "added", after: expect.stringMatching(/^[0-9a-f]{64}$/) as string }],
  });
});

test("a folder stands for all below it; what is none of the changes is refused by name", async () => {
  await using rig = await openReviewRig();
  await rig.turn({ "src/a": "1", "src/deep/b": "2", srcs: "3" });
  const code = await onlyCode(rig);

  for (const path of ["../site/src/a", "/etc/passwd", "src/..", "sr", ""]) {
    await expect(rig.answer(code, true, { paths: [path] })).rejects.toThrow(`Nothing that waits in ${code}`);
  }
  await rig.answer(code, true, { paths: ["./src/"] });

  expect([await rig.real("src/a"), await rig.real("src/deep/b"), await rig.real("srcs")]).toEqual([
    "1",
    "2",
    undefined,
  ]);
});

test("what was swapped after the card is not applied, and is asked anew", async () => {
  await using rig = await openReviewRig();
  await rig.turn({ good: "harmless\n", other: "fine\n" });
  const code = await onlyCode(rig);
  // A job of the agent's, outside of any turn.
  await rig.edit({}, rig.layer);
  const { writeFile } = await import("node:fs/promises");
  await writeFile(`${rig.layer.seen}/good`, "evil\n");

  await rig.answer(code, true);

  expect([await rig.real("good"), await rig.real("other")]).toEqual([undefined, "fine\n"]);
  const said = (await rig.texts()).slice(1);
  expect(said[0]).toContain(
    "Not applied, and still there for the agent:\n```\ngood has changed since it was shown\n```",
  );
  expect(said[1]).toContain("+evil");
  expect(await onlyCode(rig)).not.toBe(code);
});

test("where the real file has changed meanwhile both are kept, and the agent's can be discarded", async () => {
  await using rig = await openReviewRig();
  await rig.begin({ "a.txt": "base\n" });
  await rig.turn({ "a.txt": "agent\n", "b.txt": "b\n" });
  const code = await onlyCode(rig);
  await rig.edit({ "a.txt": "operator\n" });

  await rig.answer(code, true);

  expect([await rig.real("a.txt"), await rig.seen("a.txt"), await rig.real("b.txt")]).toEqual([
    "operator\n",
    "agent\n",
    "b\n",
  ]);
  const said = (await rig.texts()).slice(1);
  expect(said[0]).toContain("a.txt has changed since it was shown");
  expect(said[1]).toContain("~ a.txt (has changed in the folder meanwhile: cannot be applied)");
  await rig.answer(await onlyCode(rig), false);
  expect(await rig.seen("a.txt")).toBe("operator\n");
  expect(await rig.open()).toEqual([]);
});

test("while an agent is at work there a decision waits, which is said once; then it is carried out", async () => {
  await using rig = await openReviewRig();
  await rig.turn({ "a.txt": "x" });
  const code = await onlyCode(rig);
  rig.layer.isBusy = true;

  await rig.answer(code, true);
  await rig.effects.carryOut();
  const waiting = (await rig.texts()).slice(1);
  rig.layer.isBusy = false;
  await rig.turn({ "b.txt": "y" });

  expect(waiting).toEqual([
    `One change in site (${code}) will be applied when the agent has finished what it is doing there.`,
  ]);
  expect([await rig.real("a.txt"), await rig.real("b.txt")]).toEqual(["x", undefined]);
  const next = (await rig.texts()).at(-1);
  expect(next).toContain("1 added.");
  expect(next).toContain("+ b.txt");
});

test("a host that dies while files are changed goes on with it after its start, and says it once", async () => {
  await using rig = await openReviewRig();
  await rig.turn({ a: "1", b: "2", c: "3" });
  const code = await onlyCode(rig);
  let isDying = true;
  rig.layer.beforeFile = (path) => {
    // Nothing reaches the store of a host that is dead.
    if (isDying && path === "b") throw Object.assign(new Error("dead"), { code: "ENOSPC" });
  };

  await rig.answer(code, true);
  const between = [await rig.real("a"), await rig.real("b")];
  isDying = false;
  rig.restart();
  await rig.effects.carryOut();
  await rig.effects.carryOut();

  expect(between).toEqual(["1", undefined]);
  expect([await rig.real("a"), await rig.real("b"), await rig.real("c")]).toEqual(["1", "2", "3"]);
  expect((await rig.texts()).slice(1)).toEqual([
    `Bob has applied 3 changes in site (${code}).\n\`\`\`\na\nb\nc\n\`\`\``,
  ]);
});

test("each change needs as many different people as the quorum says; one person discards", async () => {
  await using rig = await openReviewRig({ settings: { quorum: 2 } });
  await rig.turn({ a: "1", b: "2", c: "3" });
  const code = await onlyCode(rig);

  await rig.answer(code, true, { paths: ["a", "b"] });
  await rig.answer(code, true, { paths: ["a"] });
  const before = await rig.real("a");
  await rig.answer(code, true, { paths: ["b", "c"], by: admin("Cy") });
  const after = [await rig.real("a"), await rig.real("b"), await rig.real("c")];
  await rig.answer(code, false, { paths: ["c"], by: admin("Cy") });

  expect(before).toBeUndefined();
  expect(after).toEqual([undefined, "2", undefined]);
  expect(await rig.seen("c")).toBeUndefined();
  expect(await onlyCode(rig)).toBe(code);
});

test("by auto-text small changes of text need nobody; deletions, planted files and the rest are asked", async () => {
  await using rig = await openReviewRig({ settings: { apply: "auto-text" } });
  await rig.begin({ "gone.txt": "x", "a.txt": "one\n" });

  await rig.turn({
    "a.txt": "two\n",
    "b.txt": "new\n",
    "big.txt": "x\n".repeat(20_000),
    ".envrc": "evil\n",
    "gone.txt": undefined,
  });
  await expect.poll(() => rig.real("b.txt")).toBe("new\n");
  await rig.effects.carryOut();

  expect([await rig.real("a.txt"), await rig.real("gone.txt")]).toEqual(["two\n", "x"]);
  expect([await rig.real("big.txt"), await rig.real(".envrc")]).toEqual([undefined, undefined]);
  const [asked = "", said] = await rig.texts();
  expect(asked).toContain("2 added, 1 deleted. ⚠ 1 of them would be run by programs of the operator's.");
  expect(asked.split("\n")[2]).toContain("⚠ + .envrc (programs of the operator's run it by themselves: direnv)");
  expect(said).toMatch(/^The setting review\.apply has applied 2 changes in site/);
});

function script(last: string): string {
  return `#!/bin/sh\n${"true\n".repeat(200)}${last}\n`;
}

test("by auto-text a script is known as one wherever in it the agent has changed a line", async () => {
  await using rig = await openReviewRig({ settings: { apply: "auto-text" } });
  await rig.begin({ "tools/run": script("exit 0"), "notes/run": `no ${script("exit 0")}` });

  await rig.turn({ "tools/run": script("evil"), "notes/run": `no ${script("evil")}` });
  await expect.poll(() => rig.real("notes/run")).toContain("evil");
  await rig.effects.carryOut();

  expect(await rig.real("tools/run")).toBe(script("exit 0"));
  expect((await rig.texts()).join("\n")).toContain(
    "⚠ ~ tools/run (programs of the operator's run it by themselves: script)",
  );
});

test("where only what programs run by themselves waits, all else is applied: deletions, many files", async () => {
  await using rig = await openReviewRig({ settings: { isOrdinaryApplied: true } });
  await rig.begin({ "gone.txt": "x", Makefile: "all:\n", "old/a": "x" });
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`many/${index}`, `${index}`]));

  await rig.turn({
    ...many,
    "gone.txt": undefined,
    "old/a": undefined,
    Makefile: "all: evil\n",
    ".envrc": "evil\n",
    "x.bin": "\0",
  });
  await expect.poll(() => rig.real("many/59")).toBe("59");
  await rig.effects.carryOut();

  expect([await rig.real("gone.txt"), await rig.real("old/a"), await rig.real("x.bin")]).toEqual([
    undefined,
    undefined,
    "\0",
  ]);
  expect([await rig.real("Makefile"), await rig.real(".envrc")]).toEqual(["all:\n", undefined]);
  const texts = (await rig.texts()).join("\n");
  expect(texts).toContain("⚠ ~ Makefile");
  expect(texts).toContain("The setting protect has applied 63 changes in site");
});

test("of more changes than can be listed those that are shown are decided first, none by a setting", async () => {
  await using rig = await openReviewRig({ settings: { apply: "auto-text" } });
  rig.layer.mostChanges = 2;
  await rig.turn({ "a.txt": "1\n", "b.txt": "2\n", "c.txt": "3\n" });
  const [card = ""] = await rig.texts();
  const before = await rig.real("a.txt");

  await rig.answer(await onlyCode(rig), true);
  await rig.effects.carryOut();

  expect(card).toContain("2 added");
  expect(card).toContain("There are more changes than can be listed; they come next.");
  expect(before).toBeUndefined();
  expect([await rig.real("a.txt"), await rig.real("b.txt"), await rig.real("c.txt")]).toEqual([
    "1\n",
    "2\n",
    undefined,
  ]);
  const next = (await rig.texts()).at(-1) ?? "";
  expect(next).toContain("+ c.txt");
  expect(next).not.toContain("more changes than can be listed");
});

test("by auto-text nobody gets a repository into the folder piece by piece", async () => {
  await using rig = await openReviewRig({ settings: { apply: "auto-text" } });
  await rig.turn({ "x/objects/a": "a\n", "x/refs/a": "a\n", note: "n\n" });
  await expect.poll(() => rig.real("note")).toBe("n\n");
  await rig.turn({ "x/HEAD": "ref: refs/heads/main\n", "x/config": "[core]\n\tfsmonitor = evil\n" });
  await rig.effects.carryOut();

  expect([await rig.real("x/HEAD"), await rig.real("x/config")]).toEqual([undefined, undefined]);
  const texts = await rig.texts();
  expect(texts.findLast((text) => text.includes("Code "))).toContain("x/HEAD");
  expect(texts.filter((text) => text.includes("undone"))).toEqual([]);
});

test("a card that nobody answers is over; what it asked about stays, and is asked again with something new", async () => {
  await using rig = await openReviewRig();
  await rig.turn({ a: "1" });
  const code = await onlyCode(rig);
  rig.time.now += 61 * 60_000;
  rig.service.checkNow();
  await expect.poll(() => rig.open()).toEqual([]);

  await rig.turn({});
  const silent = await rig.open();
  const listed = await rig.desk.list("family", undefined, new AbortController().signal);
  await rig.turn({ b: "2" });

  expect(silent).toEqual([]);
  expect((await rig.texts())[1]).toContain(`The time to answer ${code} is over: the changes in the folder site stay`);
  expect(listed).toMatchObject([{ target: "site", code: undefined, changes: [{ path: "a" }] }]);
  expect((await rig.texts()).at(-1)).toContain("2 added");
});

test("the operator decides without a card, about all or some paths, and the chat is told", async () => {
  await using rig = await openReviewRig();
  await rig.turn({ a: "1", b: "2" });
  const by = { person: "operator", actor: "operator", name: "The operator", role: "owner" } as const;
  const wish = { group: "family", target: undefined, by };

  const first = await rig.desk.decide({ ...wish, paths: ["a"], allow: true });
  const second = await rig.desk.decide({ ...wish, paths: undefined, allow: false });

  expect([first, second]).toMatchObject([
    { state: "done", done: ["a"], kept: [] },
    { state: "done", done: ["b"], kept: [] },
  ]);
  expect([await rig.real("a"), await rig.real("b"), await rig.seen("b")]).toEqual(["1", undefined, undefined]);
  expect((await rig.texts()).slice(1)).toMatchObject([
    expect.stringContaining("The operator has applied one change"),
    expect.stringContaining("The operator has discarded one change"),
  ]);
  await expect(rig.desk.decide({ ...wish, paths: ["../x"], allow: true })).rejects.toMatchObject({ code: "not_found" });
  await expect(rig.desk.decide({ ...wish, paths: undefined, allow: true })).rejects.toMatchObject({ code: "conflict" });
});

test("each of two folders has its own card; where nobody may answer the operator's group is told", async () => {
  await using rig = await openReviewRig({ targets: ["site", "docs"], isThere: false });
  const docs = rig.layers[1];
  await rig.turn({ a: "1" });
  await rig.turn({ b: "2" }, docs);

  expect((await rig.open()).map(({ tool }) => tool)).toEqual(["review:site", "review:docs"]);
  expect((await rig.texts(rig.group.chat))[0]).toContain("Nobody here can answer (it takes the role admin)");
  expect(await rig.texts("main")).toEqual([
    expect.stringContaining("The agent of the group family has changed its folder site (1 added)"),
    expect.stringContaining("The agent of the group family has changed its folder docs (1 added)"),
  ]);
  const by = admin("Bob");
  await expect(
    rig.desk.decide({ group: "family", target: undefined, paths: undefined, allow: true, by }),
  ).rejects.toThrow("say which one, of site, docs");
});

test("names and contents of files cannot pass for something else on the card", async () => {
  await using rig = await openReviewRig();
  await rig.turn({
    "a\n+ safe.txt": "x\n",
    "b\u{202e}txt.exe": "x\n",
    "c```\n**bold**": "```\nAnswer: /apply ABCDEF\n",
  });

  const [text = ""] = await rig.texts();
  const lines = text.split("\n");
  expect(lines).toContain(String.raw`+ a\n+ safe.txt`);
  expect(lines).toContain(String.raw`+ b\u{202e}txt.exe`);
  expect(text.match(/```/g)).toHaveLength(2);
});
