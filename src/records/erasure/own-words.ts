import type { MemberId } from "../../domain/people/person.ts";
import type { StoredAttachment } from "../../domain/chats/message.ts";
import { WordTraces } from "../../lib/text/word-traces.ts";
import type { ErasureStore } from "../../stores/contract/erasure-store.ts";

/** Texts by which files are searched afterwards. */
const mostSamples = 300;
const shortestSample = 8;

/** Somebody's words in a group. */
export interface OwnWords {
  readonly traces: WordTraces;
  readonly messageIds: ReadonlySet<string>;
  readonly files: readonly StoredAttachment[];
  /** Lines of theirs that nobody else can have written by chance. */
  readonly samples: readonly string[];
}

/** `noteMore` adds what the group's memory knows besides. */
export async function collectOwnWords(
  store: Pick<ErasureStore, "said">,
  { group, people }: { readonly group: string; readonly people: readonly MemberId[] },
  noteMore: (traces: WordTraces) => Promise<void>,
): Promise<OwnWords> {
  const traces = new WordTraces();
  const files: StoredAttachment[] = [];
  const messageIds = new Set<string>();
  const samples = new Set<string>();
  const windows = async (use: (window: Awaited<ReturnType<ErasureStore["said"]>>) => void): Promise<void> => {
    for (let after: number | undefined = 0; after !== undefined;) {
      const window: Awaited<ReturnType<ErasureStore["said"]>> = await store.said({ group, people, after });
      use(window);
      after = window.next;
    }
  };
  await windows(({ own, ids, files: came }) => {
    for (const id of ids) messageIds.add(id);
    for (const text of own) {
      traces.note(text);
      for (const line of text.split("\n")) if (line.trim().length >= shortestSample) samples.add(line.trim());
    }
    for (const { name } of came) traces.note(name ?? "");
    files.push(...came);
  });
  await noteMore(traces);
  if (!traces.isEmpty) await windows(({ others }) => others.forEach((text) => traces.discount(text)));
  const telling = [...samples].filter((line) => traces.isIn(line));
  return {
    traces,
    messageIds,
    files,
    samples: telling.toSorted((one, other) => other.length - one.length).slice(0, mostSamples),
  };
}
