import type { UserFacingSocketConfig } from "@whiskeysockets/baileys";

import { openFakeWhatsApp } from "./fake-whatsapp.ts";
import type { FakeGroup, FakeUser, FakeWhatsApp } from "./fake-whatsapp.ts";
import { LibraryClient, pairLibrary, trustServer } from "./library-client.ts";
import type { LibraryState } from "./library-client.ts";
import type { Addressing } from "./stanza.ts";

/** A server, and a client of the unmodified library that is linked to its first account. */
export class LibraryRig implements AsyncDisposable {
  readonly whatsapp: FakeWhatsApp;
  readonly state: LibraryState;
  /** Output of the library, which should be hidden. */
  readonly printed: unknown[][];
  readonly #owned: AsyncDisposable;
  #people = 0;

  private constructor(
    whatsapp: FakeWhatsApp,
    state: LibraryState,
    owned: { printed: unknown[][]; by: AsyncDisposable },
  ) {
    this.whatsapp = whatsapp;
    this.state = state;
    this.printed = owned.printed;
    this.#owned = owned.by;
  }

  static async open(): Promise<LibraryRig> {
    await using stack = new AsyncDisposableStack();
    const printed: unknown[][] = [];
    stack.use(collectPrinted(printed));
    const whatsapp = stack.use(await openFakeWhatsApp());
    stack.use(trustServer(whatsapp));
    const state = await pairLibrary(whatsapp);
    return new LibraryRig(whatsapp, state, { printed, by: stack.move() });
  }

  /** A connection of the linked client, logged in. */
  async logIn(options: Partial<UserFacingSocketConfig> = {}): Promise<LibraryClient> {
    const client = new LibraryClient(this.whatsapp, this.state, options);
    await client.opened;
    return client;
  }

  /** Somebody whom no other test knows. */
  async somebody(name: string): Promise<FakeUser> {
    this.#people += 1;
    const number = String(this.#people).padStart(4, "0");
    const facts = { name: `${name} ${number}`, pn: `1666000${number}`, lid: `7000000000${number}` };
    return this.whatsapp.addUser(facts);
  }

  /** A group of Ann, who made it, Bob and the linked account. */
  async group(addressing: Addressing = "lid"): Promise<{ group: FakeGroup; ann: FakeUser; bob: FakeUser }> {
    const ann = await this.somebody("Ann");
    const bob = await this.somebody("Bob");
    const members = [ann, bob, this.whatsapp.bot];
    return { group: await this.whatsapp.addGroup({ subject: "Family", addressing, members }), ann, bob };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned[Symbol.asyncDispose]();
  }
}

function collectPrinted(printed: unknown[][]): Disposable {
  const original = { ...globalThis.console };
  const collect = (...values: unknown[]): void => void printed.push(values);
  Object.assign(globalThis.console, { info: collect, warn: collect, error: collect });
  return { [Symbol.dispose]: () => void Object.assign(globalThis.console, original) };
}
