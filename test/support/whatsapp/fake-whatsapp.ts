import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

import { afterAll, beforeAll } from "vitest";

import { programPath } from "../programs.ts";
import type { MemberChange } from "./administration.ts";
import type { Extras } from "./compose.ts";
import type { Faults } from "./faults.ts";
import type { Manifest, Welcome } from "./main.ts";
import type { Observations, Operations } from "./operations.ts";
import type { PersonFacts } from "./person.ts";
import type { Addressing } from "./stanza.ts";
import type { InboxEntry } from "./world.ts";

const program = programPath("fake-whatsapp");

type Input<Name extends keyof Operations> = Parameters<Operations[Name]>[0];
type Output<Name extends keyof Operations> = Awaited<ReturnType<Operations[Name]>>;

/** Additions to a text. */
export interface SayOptions extends Extras {
  readonly id?: string;
  /** Milliseconds since 1970. */
  readonly sentAt?: number;
  readonly withoutKey?: boolean;
}

/** A group on the fake server. */
export interface FakeGroup {
  readonly id: string;
  readonly subject: string;
}

/** A process that has servers. */
interface ServerProcess extends AsyncDisposable {
  readonly control: string;
}

async function startProcess(): Promise<ServerProcess> {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [program], {
    env: { PATH, NODE_COMPILE_CACHE },
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  const lines = createInterface({ input: child.stdout ?? process.stdin });
  const [line] = (await Promise.race([
    once(lines, "line"),
    once(child, "exit").then(([code]) => {
      throw new Error(`the fake WhatsApp server ended with ${String(code)}`);
    }),
  ])) as [string];
  return {
    ...(JSON.parse(line) as Welcome),
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return;
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      await exited;
    },
  };
}

let shared: ServerProcess | undefined;

/**
 * For a test file: its servers, which stay one for each test, run in one process, which takes most of a second to
 * start.
 */
export function shareServerProcess(): void {
  beforeAll(async () => {
    shared = await startProcess();
  });
  afterAll(async () => {
    await shared?.[Symbol.asyncDispose]();
    shared = undefined;
  });
}

async function ask(url: string, input: unknown): Promise<unknown> {
  const answer = await fetch(url, { method: "POST", body: JSON.stringify(input) });
  if (!answer.ok) throw new Error(`${url}: ${await answer.text()}`);
  return answer.json();
}

/** Starts a WhatsApp server of the test's own, in its own process or in that of the test file. */
export async function openFakeWhatsApp(): Promise<FakeWhatsApp> {
  await using stack = new AsyncDisposableStack();
  const { control } = shared ?? stack.use(await startProcess());
  const manifest = (await ask(`${control}/open`, {})) as Manifest;
  stack.defer(() => ask(`${manifest.control}/close`, {}).then(() => undefined));
  return new FakeWhatsApp(manifest, stack.move());
}

/** Drives the server: what people do with their phones, what goes wrong, and what was seen. */
export class FakeWhatsApp implements AsyncDisposable {
  readonly url: string;
  readonly root: Buffer;
  readonly caFile: string;
  /** The account that is there from the beginning. */
  readonly bot: PersonFacts;
  readonly #control: string;
  readonly #owned: AsyncDisposable;

  constructor(manifest: Manifest, owned: AsyncDisposable) {
    this.#owned = owned;
    this.url = manifest.url;
    this.root = Buffer.from(manifest.root, "hex");
    this.caFile = manifest.caFile;
    this.bot = manifest.bot;
    this.#control = manifest.control;
  }

  /** Does one of the operations; the others here are short for these. */
  async perform<Name extends keyof Operations>(name: Name, input: Input<Name>): Promise<Output<Name>> {
    return (await ask(`${this.#control}/${name}`, input)) as Output<Name>;
  }

  /** Links the client that shows this QR code. Resolves when it has signed. */
  async scan(qr: string, account = this.bot.name): Promise<void> {
    await this.perform("scan", { qr, account });
  }

  /** Links a client that has not been started: resolves with what such a one keeps as its credentials. */
  async link(account = this.bot.name): Promise<Buffer> {
    return Buffer.from((await this.perform("link", { account })).credentials);
  }

  async enterPairingCode(code: string, account = this.bot.name): Promise<void> {
    await this.perform("enterPairingCode", { code, account });
  }

  /** Somebody with a phone; clients can be linked to the account, too. */
  async addUser(facts: PersonFacts): Promise<FakeUser> {
    await this.perform("addUser", facts);
    return new FakeUser(this, facts);
  }

  /** The first of the members makes it. */
  async addGroup(group: {
    readonly subject: string;
    readonly members: readonly PersonFacts[];
    readonly addressing?: Addressing;
    /** The server says of its members only the name that the group's addressing has. */
    readonly oneName?: boolean;
  }): Promise<FakeGroup> {
    const { subject, addressing = "lid", oneName } = group;
    const members = group.members.map(({ name }) => name);
    return { id: (await this.perform("addGroup", { subject, addressing, members, oneName })).id, subject };
  }

  /** The owner of the account that is there from the beginning, with the phone in hand. */
  get owner(): FakeUser {
    return new FakeUser(this, this.bot);
  }

  async fault(faults: Partial<Faults>): Promise<void> {
    await this.perform("fault", faults);
  }

  async cut(account = this.bot.name): Promise<void> {
    await this.perform("cut", { account });
  }

  /** Ends the clients' streams with this code; 440 is a conflict that has none. */
  async endStream(code: number, account = this.bot.name): Promise<void> {
    await this.perform("endStream", code === 440 ? { account, conflict: "replaced" } : { account, code });
  }

  async observe(): Promise<Observations> {
    return this.perform("observe", {});
  }

  /** Delivers a message again. */
  async repeat(id: string): Promise<void> {
    await this.perform("repeat", { id });
  }

  /** The content of the file that a client has sent with this message. */
  async file(id: string): Promise<Buffer> {
    return Buffer.from((await this.perform("file", { id })).base64, "base64");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned[Symbol.asyncDispose]();
  }
}

/** Somebody with a phone. */
export class FakeUser implements PersonFacts {
  readonly name: string;
  readonly pn: string;
  readonly lid: string;
  readonly #server: FakeWhatsApp;

  constructor(server: FakeWhatsApp, { name, pn, lid }: PersonFacts) {
    this.#server = server;
    this.name = name;
    this.pn = pn;
    this.lid = lid;
  }

  /** Says something in a group, or to somebody. Returns the id of the message. */
  async say(chat: FakeGroup | PersonFacts, text: string, options: SayOptions = {}): Promise<string> {
    const { id, sentAt, withoutKey, ...extras } = options;
    const said = { from: this.name, chat: chatName(chat), text, extras, id, sentAt, withoutKey };
    return (await this.#server.perform("say", said)).id;
  }

  async type(chat: FakeGroup | PersonFacts, state: "composing" | "paused" = "composing"): Promise<void> {
    await this.#server.perform("type", { from: this.name, chat: chatName(chat), state });
  }

  /** Adds, removes, promotes or demotes people. Who removes themselves has left. */
  async change(group: FakeGroup, change: MemberChange, ...people: readonly PersonFacts[]): Promise<void> {
    const names = people.map(({ name }) => name);
    await this.#server.perform("changeMembers", { group: group.id, actor: this.name, change, people: names });
  }

  async leave(group: FakeGroup): Promise<void> {
    await this.change(group, "remove", this);
  }

  async rename(group: FakeGroup, subject: string): Promise<void> {
    await this.#server.perform("changeSubject", { group: group.id, actor: this.name, subject });
  }

  async read(group: FakeGroup, id: string): Promise<void> {
    await this.#server.perform("receipt", { from: this.name, id, group: group.id, kind: "read" });
  }

  /** The phone could not decrypt the message and asks for it again. */
  async askAgain(group: FakeGroup, id: string): Promise<void> {
    await this.#server.perform("askAgain", { from: this.name, id, group: group.id });
  }

  /** Messages that clients sent to this phone, each once, in order. */
  async inbox(): Promise<InboxEntry[]> {
    return this.#server.perform("inbox", { user: this.name });
  }

  /** The texts of the inbox. */
  async texts(chat?: FakeGroup): Promise<string[]> {
    const entries = (await this.inbox()).filter((entry) => chat === undefined || entry.chat === chat.id);
    return entries.map(({ content }) => content.text);
  }
}

function chatName(chat: FakeGroup | PersonFacts): string {
  return "subject" in chat ? chat.id : chat.name;
}
