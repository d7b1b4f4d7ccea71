import { expect, test } from "vitest";

import type { ReviewChange, ReviewDecision, ReviewLayer } from "../../src/sandbox/review/review-layer.ts";

/** Texts by path; undefined: there is none. */
export type Files = Readonly<Record<string, string | undefined>>;

/** A layer over a folder of the operator's, with ways to both of its sides. */
export interface ReviewedFolder extends AsyncDisposable {
  readonly layer: () => Promise<ReviewLayer>;
  /** Changes files of the real folder. */
  readonly operator: (files: Files) => Promise<void>;
  /** Changes files as the agent. */
  readonly agent: (files: Files) => Promise<void>;
  readonly real: (path: string) => Promise<string | undefined>;
  readonly seen: (path: string) => Promise<string | undefined>;
  /** A turn is at work in it from now on, or is no longer. */
  readonly work: (isBusy: boolean) => void;
}

const begun = { "a.txt": "one\ntwo\n", "b.txt": "b\n", "d/c.txt": "c\n" };
const changed = { "a.txt": "one\nthree\n", "b.txt": undefined, "d/e/new.txt": "new\n", "d/c.txt": "other\n" };

/** Contract for layers of mounts with review: the real one, and the one of tests without containers. */
export function testReviewLayer(open: () => Promise<ReviewedFolder>): void {
  /** A folder in which an agent has changed files, and the decision about all that is shown. */
  async function opened() {
    const folder = await open();
    await folder.operator(begun);
    await folder.agent(changed);
    const layer = await folder.layer();
    const decide = async (more: Partial<ReviewDecision> = {}) => {
      const recorded: (readonly ReviewChange[])[] = [];
      const { digest } = await layer.diff();
      const record: ReviewDecision["record"] = async (changes) => void recorded.push(changes);
      return { decision: { paths: undefined, digest, record, ...more }, recorded };
    };
    return { folder, layer, decide };
  }

  test("what the agent changed is listed by path, with a diff and digests; the folder stays as it is", async () => {
    const { folder, layer } = await opened();
    await using _ = folder;

    const diff = await layer.diff();

    const files = diff.changes.filter(({ entry }) => entry === "file");
    expect(files.map(({ path, kind }) => `${kind} ${path}`)).toEqual([
      "changed a.txt",
      "deleted b.txt",
      "changed d/c.txt",
      "added d/e/new.txt",
    ]);
    expect(files[0]).toMatchObject({ text: "@@ -1,2 +1,2 @@\n one\n-two\n+three", remarks: [] });
    expect(files[0]).toMatchObject({
      before: { size: 8 },
      after: { size: 10, sha256: expect.stringMatching(/^.{64}$/) },
    });
    expect([files[1]?.after, files[3]?.before]).toEqual([undefined, undefined]);
    expect(await layer.diff()).toEqual(diff);
    for (const [path, text] of Object.entries(begun)) expect(await folder.real(path)).toBe(text);
    expect(await folder.seen("a.txt")).toBe(changed["a.txt"]);
  });

  test("what is applied is in the real folder, in one record before it; the rest waits", async () => {
    const { folder, layer, decide } = await opened();
    await using _ = folder;
    const { decision, recorded } = await decide({ paths: ["./d/", "b.txt"] });

    const { applied, kept } = await layer.apply(decision);

    expect(recorded).toHaveLength(1);
    expect(pathsOf(recorded[0])).toEqual(["b.txt", "d/c.txt", "d/e/new.txt"]);
    expect([pathsOf(applied), kept]).toEqual([["b.txt", "d/c.txt", "d/e/new.txt"], []]);
    expect([await folder.real("b.txt"), await folder.real("d/e/new.txt")]).toEqual([undefined, "new\n"]);
    expect(await folder.real("a.txt")).toBe(begun["a.txt"]);
    expect(pathsOf((await layer.diff()).changes)).toEqual(["a.txt"]);
  });

  test("what is discarded is as the operator has it, for the agent as well", async () => {
    const { folder, layer, decide } = await opened();
    await using _ = folder;
    const { decision } = await decide();

    expect(pathsOf((await layer.discard(decision)).discarded)).toEqual(["a.txt", "b.txt", "d/c.txt", "d/e/new.txt"]);

    expect([await folder.seen("a.txt"), await folder.seen("b.txt")]).toEqual([begun["a.txt"], "b\n"]);
    expect([await folder.seen("d/e/new.txt"), (await layer.diff()).changes]).toEqual([undefined, []]);
  });

  test("nothing is done that was not shown, is unknown, is not on record, or while a turn is at work", async () => {
    const { folder, layer, decide } = await opened();
    await using _ = folder;
    const { digest } = await layer.diff();
    await folder.agent({ "a.txt": "again\n" });

    for (const way of ["apply", "discard"] as const) {
      const other = await decide({ digest });
      await expect(layer[way](other.decision)).rejects.toMatchObject({ code: "conflict" });
      const unknown = await decide({ paths: ["a.txt", "nowhere"] });
      await expect(layer[way](unknown.decision)).rejects.toMatchObject({ code: "not_found" });
      await expect(layer[way]((await decide({ record: noRecord })).decision)).rejects.toThrow("no record");
      folder.work(true);
      const busy = await decide();
      await expect(layer[way](busy.decision)).rejects.toMatchObject({ code: "conflict", passing: true });
      folder.work(false);
      expect([...other.recorded, ...unknown.recorded, ...busy.recorded]).toEqual([]);
    }

    expect([await folder.real("a.txt"), await folder.seen("a.txt")]).toEqual([begun["a.txt"], "again\n"]);
  });

  test("a file that the operator has changed meanwhile is kept on both sides, and can be discarded", async () => {
    const { folder, layer, decide } = await opened();
    await using _ = folder;
    await layer.diff();
    await folder.operator({ "a.txt": "operator\n", "b.txt": "operator\n" });

    const { changes } = await layer.diff();
    const { applied, kept } = await layer.apply((await decide()).decision);

    expect(pathsOf(changes.filter(({ conflict }) => conflict))).toEqual(["a.txt", "b.txt"]);
    expect(pathsOf(applied)).toEqual(["d/c.txt", "d/e/new.txt"]);
    expect(kept).toEqual(["a.txt", "b.txt"].map((path) => ({ path, reason: "has changed meanwhile" })));
    expect([await folder.real("a.txt"), await folder.seen("a.txt")]).toEqual(["operator\n", changed["a.txt"]]);
    await layer.discard((await decide()).decision);
    expect(await folder.seen("a.txt")).toBe("operator\n");
  });
}

function noRecord(): Promise<void> {
  return Promise.reject(new Error("no record"));
}

/** Paths of the files among changes, sorted. */
function pathsOf(changes: readonly ReviewChange[] = []): string[] {
  return changes
    .filter(({ entry }) => entry === "file")
    .map(({ path }) => path)
    .toSorted();
}
