import { afterAll, beforeAll } from "vitest";

import type { EventView } from "../../src/records/events/event-view.ts";
import type { ToldDelta } from "../../src/operations/events/operations.ts";
import { type Reply, type Said, type SayOptions, TestHost } from "./host.ts";
import type { HostOptions } from "./host-options.ts";
import { groupOf, type ModelHost, type ModelHostOptions, startModelHost } from "./model-host.ts";
import type { ModelScript, ModelServerRequest } from "./model-servers/model-server.ts";
import { tailEvents } from "../../src/operations/events/operations.ts";
import { editSettings, getSetting } from "../../src/operations/settings/operations.ts";

/** A group that one test has for itself on a host that it shares: its own model, and only what concerns it. */
export class TestGroup {
  readonly name: string;
  readonly host: TestHost;
  readonly #requests: readonly ModelServerRequest[];

  /** Without a model of the test's, the built-in one answers. */
  constructor(name: string, { host, model }: Pick<ModelHost, "host"> & Partial<ModelHost>) {
    this.name = name;
    this.host = host;
    this.#requests = model?.requests ?? [];
  }

  /** Requests to its model, in order. */
  get requests(): readonly ModelServerRequest[] {
    return this.#requests.filter((request) => groupOf(request) === this.name);
  }

  say(text: string, options?: SayOptions): Promise<Said> {
    return this.host.say(this.name, text, options);
  }

  /**
   * Says something and waits for the answer. Ids of messages are this test's own, though others of the file may have
   * the same.
   */
  async ask(text: string, options?: SayOptions): Promise<Reply> {
    const said = await this.say(text, options);
    if (said.status !== 202) throw new Error(`refused with ${said.status}: ${JSON.stringify(said.body)}`);
    return this.replyTo(said.id);
  }

  replyTo(id: string): Promise<Reply> {
    return this.host.replyTo(id, { group: this.name });
  }

  /** All that was said to its chat, since a reply or from the beginning. */
  async replies(after = 0): Promise<Reply[]> {
    const found: Reply[] = [];
    for (let last: number | undefined = after; last !== undefined;) {
      const replies: Reply[] = await this.host.replies(last);
      found.push(...replies.filter(({ group }) => group === this.name));
      last = replies.at(-1)?.seq;
    }
    return found;
  }

  /** Events of a type such as `turn.*`, oldest first. */
  async events(type: string): Promise<(EventView | ToldDelta)[]> {
    const query = { after: 0, last: 0, type, group: this.name };
    return Array.fromAsync(this.host.control.follow(tailEvents, query));
  }

  /** Ids of its containers, running or not. */
  async containers(): Promise<string[]> {
    await using engine = await this.host.openEngine();
    const labels = { "crabpot.instance": await this.host.instance(), "crabpot.group": this.name };
    return (await engine.list(labels)).map(({ id }) => id).toSorted();
  }

  /** A file of its folder; empty when it is missing. */
  readFile(name: string): Promise<string> {
    return this.host.readGroupFile(this.name, name);
  }
}

/** One host for the tests of a file that neither end it nor change what others see. */
export interface SharedHost<Name extends string> {
  /** The group, with the model that answers it from now on. */
  group(name: Name, script: ModelScript): TestGroup;
  /** For what is of all groups. */
  readonly running: ModelHost;
}

/** Groups with certain agents. */
interface SharedOptions<Name extends string> {
  readonly groups: Readonly<Record<Name, object>>;
  readonly withoutContainers?: "all" | readonly NoInfer<Name>[];
}

/** Has something before the first test of a file, and ends it after the last. */
function share<Owned extends AsyncDisposable>(start: () => Promise<Owned>): () => Owned {
  let owned: Owned | undefined;
  beforeAll(async () => {
    owned = await start();
  });
  afterAll(() => owned?.[Symbol.asyncDispose]());
  return () => {
    if (owned === undefined) throw new Error("A shared host is there from the first test on.");
    return owned;
  };
}

/** Starts a host whose model is the built-in one, with a group for each test that names one. */
export function shareHost<Name extends string>(
  options: HostOptions & SharedOptions<Name>,
): { group(name: Name): TestGroup; readonly host: TestHost } {
  const started = share(() => TestHost.start(options));
  return {
    group: (name) => new TestGroup(name, { host: started() }),
    get host() {
      return started();
    },
  };
}

/**
 * Starts a host before the first test of a file, with a group for each test that names one, and ends it after the last.
 */
export function shareModelHost<Name extends string>(options: ModelHostOptions & SharedOptions<Name>): SharedHost<Name> {
  const scripts = new Map<string, ModelScript>();
  const started = share(() =>
    startModelHost((request) => {
      const script = scripts.get(groupOf(request));
      if (script === undefined) throw new Error(`No test has the group "${groupOf(request)}".`);
      return script(request);
    }, options),
  );
  return {
    group: (name, script) => {
      scripts.set(name, script);
      return new TestGroup(name, started());
    },
    get running() {
      return started();
    },
  };
}

/** Gives a setting of a shared host another value until it is disposed of. */
export async function setForTest({ control }: TestHost, setting: string, value: unknown): Promise<AsyncDisposable> {
  const path = setting.split(".");
  const before = await control.call(getSetting, { path: setting });
  await control.call(editSettings, { edits: [{ path, value }] });
  return {
    [Symbol.asyncDispose]: async () => {
      await control.call(editSettings, { edits: [{ path, value: before.value }] });
    },
  };
}
