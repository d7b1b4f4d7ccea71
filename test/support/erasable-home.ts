import type { StoredQuote } from "../../src/domain/chats/message.ts";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { renderMessages } from "../../src/turns/context/render-messages.ts";
import { localClock } from "../../src/lib/time/zone-clock.ts";
import { homePaths, type HomePaths, prepareHome } from "../../src/config/home/home.ts";
import type { PersonEraser } from "../../src/records/erasure/erase-person.ts";
import type { NewEvent } from "../../src/domain/events/event.ts";
import { systemClock } from "../../src/lib/time/clock.ts";
import { Aliases } from "../../src/rights/people/aliases.ts";
import type { Store } from "../../src/stores/contract/store.ts";
import { createEraser } from "../../src/host/erasure.ts";
import { createCrashPoints } from "./crash-points.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { checkoutFolder } from "./engine.ts";
import { openStoreAt } from "./open-store-at.ts";
import { lineageOf } from "./lineages.ts";

/** A home with a real store, in which tests let people and an agent say things, without a host. */
export interface ErasableHome extends AsyncDisposable {
  readonly store: Store;
  readonly paths: HomePaths;
  readonly published: NewEvent[];
  readonly eraser: PersonEraser;
  /** Which ids of the channel are one person's. */
  readonly aliases: Aliases;
  /** Somebody says something; it is not answered. */
  hear(said: SaidInTest): Promise<number>;
  /** A turn that answers these messages, whose agent runs a tool and says something. */
  answer(
    seqs: readonly number[],
    agent: { readonly text: string; readonly input?: string; readonly result?: string },
  ): Promise<string>;
  /** Files of the home that hold this as bytes. */
  find(text: string): Promise<string[]>;
  /** The same for each of many texts, each file read once. */
  findEach(texts: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>>;
}

export interface SaidInTest {
  readonly who: string;
  readonly text: string;
  readonly group?: string;
  readonly quote?: StoredQuote;
  readonly file?: string;
  /** Those for whom it is, where the group has several; each has a copy. */
  readonly agents?: readonly string[];
}

const people = { ann: { ids: ["fake:ann", "fake:ann-work"] } };

/** `root`: a home that is there; left out: a new one, which is gone at the end. `crashAt`: where this process dies. */
export async function openErasableHome(root?: string, crashAt?: string): Promise<ErasableHome> {
  await using stack = new AsyncDisposableStack();
  const home = await prepareHome(root ?? join(stack.use(await temporaryFolder()).path, "home"));
  const paths = homePaths(home.paths.root);
  const opened = stack.use(await openStoreAt(paths.database));
  const store = createCrashPoints(crashAt).store(opened);
  const published: NewEvent[] = [];
  const aliases = await Aliases.load(store.channelState, [{ name: "fake" }], ["fake"]);
  const eraser = createEraser({
    store,
    home: { paths },
    environment: { checkout: checkoutFolder },
    config: { people },
    aliases,
    publish: async (event) => void published.push(event),
    fingerprint: (text) => ({ sha256: `digest-${text.length}`, chars: text.length }),
    clock: systemClock,
  });
  let count = 0;
  const hear: ErasableHome["hear"] = async ({ who, text, group = "family", quote, file, agents }) => {
    count += 1;
    const sender = { id: who, name: nameOf(who) };
    const message = { channel: "fake", chat: group, id: `id-${count}`, sender, text, mention: false };
    const path = `/workspace/group/inbox/${file}`;
    const attachments =
      file === undefined
        ? []
        : [{ kind: "document", name: file, file: { path, mimeType: "text/plain", bytes: 1 } } as const];
    if (file !== undefined) await putFile(paths, group, { name: join("inbox", file), text });
    const { seq } = await store.messages.insert(message, {
      group,
      state: "waiting",
      at: count,
      attachments,
      agents,
      quote,
    });
    return seq;
  };
  const owned = stack.move();
  return {
    store,
    paths,
    published,
    eraser,
    aliases,
    hear,
    answer: (seqs, agent) => answer(store, { seqs, agent, turn: `turn-${(count += 1)}` }),
    find: async (text) => (await findEach(paths.root, [text])).get(text) ?? [],
    findEach: (texts) => findEach(paths.root, texts),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

export function nameOf(who: string): string {
  return `Name${who.toUpperCase()}`;
}

/** Puts a file where the agent of a group could. */
export async function putFile(
  paths: HomePaths,
  group: string,
  file: { readonly name: string; readonly text: string },
): Promise<void> {
  await mkdir(dirname(join(paths.groups, group, file.name)), { recursive: true });
  await writeFile(join(paths.groups, group, file.name), file.text);
}

async function answer(
  store: Store,
  { seqs, agent, turn }: { seqs: readonly number[]; agent: Parameters<ErasableHome["answer"]>[1]; turn: string },
): Promise<string> {
  const messages = await store.messages.withSeqs(seqs);
  const [first] = messages;
  if (!first) throw new Error("no messages");
  const { group, channel, chat } = first;
  const { id: session } = await store.sessions.open(`agent:${channel}:${chat}`, group);
  const parts = renderMessages({
    messages,
    omitted: 0,
    agentName: "crab",
    timeZone: localClock("UTC"),
    idOf: String,
  });
  const text = parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
  const senders = [...new Set(messages.map(({ sender }) => `${channel}:${sender.id}`))];
  const takes = { messages: [...seqs], cursor: Math.max(...seqs), lineage: lineageOf("member", ...senders) };
  const begins = {
    id: turn,
    session,
    group,
    conversation: 1,
    cause: "message",
    replyTo: { kind: "chat", channel, chat },
    at: 20,
  } as const;
  await store.turns.begin(begins, { body: { kind: "user", text }, tokens: 7, at: 20, takes });
  const usage = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1 };
  const called = {
    text: "",
    toolCalls: [{ id: "c", name: "shell", input: { command: agent.input ?? "ls" } }],
    stop: "tool-calls",
    usage,
    model: "m",
  } as const;
  await store.turns.addStep(turn, { body: { kind: "model", answer: called, denied: [] }, tokens: 1, at: 21 });
  const results = [{ callId: "c", output: agent.result ?? "done", isError: false }];
  await store.turns.addStep(turn, { body: { kind: "tools", results }, tokens: 1, at: 22 });
  const said = { text: agent.text, toolCalls: [], stop: "end", usage, model: "m" } as const;
  await store.turns.finish(turn, {
    state: "done",
    at: 23,
    steps: [{ body: { kind: "model", answer: said, denied: [] }, tokens: 1, at: 23 }],
    outgoing: [
      { group, channel, chat, kind: "reply", text: agent.text, inReplyTo: messages.map(({ id }) => id), turn },
    ],
  });
  return turn;
}

async function findEach(folder: string, texts: readonly string[]): Promise<Map<string, string[]>> {
  const found = new Map(texts.map((text): [string, string[]] => [text, []]));
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const bytes = await readFile(path);
    for (const [text, paths] of found) if (bytes.includes(text)) paths.push(path);
  }
  return found;
}
