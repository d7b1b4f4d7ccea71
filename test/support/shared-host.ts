import { afterAll, beforeAll } from "vitest";

import type { Reply, Said, SayOptions, TestHost } from "./host.ts";
import { groupOf, type ModelHost, type ModelHostOptions, startModelHost } from "./model-host.ts";
import type { ModelScript, ModelServerRequest } from "./model-servers/model-server.ts";

/** A group that one test has for itself on a host that it shares: its own model, and only what concerns it. */
export class TestGroup {
  readonly name: string;
  readonly host: TestHost;
  readonly #requests: readonly ModelServerRequest[];

  constructor(name: string, { host, model }: ModelHost) {
    this.name = name;
    this.host = host;
    this.#requests = model.requests;
  }

  /** What its model was asked, in order. */
  get requests(): readonly ModelServerRequest[] {
    return this.#requests.filter((request) => groupOf(request) === this.name);
  }

  say(text: string, options?: SayOptions): Promise<Said> {
    return this.host.say(this.name, text, options);
  }

  /** Says something and waits for the answer. Ids of messages are this test's own, though others of the file may have the same. */
  async ask(text: string, options?: SayOptions): Promise<Reply> {
    const said = await this.say(text, options);
    if (said.status !== 202) throw new Error(`refused with ${said.status}: ${JSON.stringify(said.body)}`);
    return this.replyTo(said.id);
  }

  replyTo(id: string): Promise<Reply> {
    return this.host.replyTo(id, { group: this.name });
  }

  /** All that was said to its chat. */
  async replies(): Promise<Reply[]> {
    const found: Reply[] = [];
    for (let after = 0; ;) {
      const replies = await this.host.replies(after);
      const last = replies.at(-1);
      if (last === undefined) return found;
      found.push(...replies.filter(({ group }) => group === this.name));
      after = last.seq;
    }
  }

  /** A file of its folder; empty when it is not there. */
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

/** Starts a host before the first test of a file, with a group for each test that names one, and ends it after the last. */
export function shareModelHost<Name extends string>(
  options: ModelHostOptions & {
    readonly groups: Readonly<Record<Name, object>>;
    readonly withoutContainers?: "all" | readonly NoInfer<Name>[];
  },
): SharedHost<Name> {
  const scripts = new Map<string, ModelScript>();
  let running: ModelHost | undefined;
  const started = (): ModelHost => {
    if (running === undefined) throw new Error("A shared host is there from the first test on.");
    return running;
  };
  beforeAll(async () => {
    running = await startModelHost((request) => {
      const script = scripts.get(groupOf(request));
      if (script === undefined) throw new Error(`No test has the group "${groupOf(request)}".`);
      return script(request);
    }, options);
  });
  afterAll(() => running?.[Symbol.asyncDispose]());
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
