import { createHash } from "node:crypto";

import type { KnownChange } from "./change-history.ts";
import type { EntryFacts } from "./entry-facts.ts";
import type { ReviewChange, ReviewDiff, ReviewEntry } from "./review-layer.ts";
import { canonicalJson } from "../../lib/canonical-json.ts";
import { unifiedDiff } from "../../lib/text/unified-diff.ts";

/** Returns the changes as people are shown them, with the digest by which they decide. */
export function presentDiff(changes: readonly KnownChange[], isCut: boolean): ReviewDiff {
  const shown = changes.map(presentChange);
  const facts = shown.map((change) => ({ ...change, text: undefined }));
  const keys = changes.map(({ key }) => key);
  const digest = createHash("sha256")
    .update(canonicalJson([keys, facts, isCut]))
    .digest("hex");
  return { changes: shown, cut: isCut, digest };
}

/** Returns one change as it is shown. */
export function presentChange(change: KnownChange): ReviewChange {
  const { path, before, after, remarks, refused, isConflict } = change;
  const kind = before === undefined ? "added" : after === undefined ? "deleted" : "changed";
  const text = textOf(before, after);
  return {
    path,
    kind,
    entry: (after ?? before)?.entry ?? "file",
    ...(before && { before: entryOf(before) }),
    ...(after && { after: entryOf(after) }),
    ...(text !== undefined && { text }),
    remarks,
    ...(refused !== undefined && { refused }),
    ...(isConflict && { conflict: true }),
  };
}

function entryOf({ entry, sha256, size, mode, link, isScript }: EntryFacts): ReviewEntry {
  return { entry, sha256, size, mode, link, ...(isScript && { isScript }) };
}

function textOf(before: EntryFacts | undefined, after: EntryFacts | undefined): string | undefined {
  const [old, now] = [before?.content, after?.content];
  if ((before && old === undefined) || (after && now === undefined)) return undefined;
  return old === now ? undefined : unifiedDiff(old ?? "", now ?? "");
}
