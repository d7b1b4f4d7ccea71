import { afterAll, beforeAll } from "vitest";

import { groupOf } from "../model-host.ts";
import type { ModelScript, ModelServerRequest } from "../model-servers/model-server.ts";
import { keepRunning } from "../restarts.ts";
import { AppRig, type AppRigOptions } from "./app-rig.ts";
import type { FakeGroup } from "./fake-whatsapp.ts";

/** A group that one test has for itself. */
export interface OwnGroup extends FakeGroup {
  /** Requests to its model, in order. */
  readonly requests: readonly ModelServerRequest[];
}

/** One host and one linked account for the tests of a file; those that end the host start it again. */
export interface SharedAppRig {
  /** The group, with the model that answers it from now on. */
  group(name: string, script: ModelScript): OwnGroup;
  /** For groups that come to be while the host runs. */
  answers(name: string, script: ModelScript): void;
  readonly running: AppRig;
}

/**
 * Starts it all before the first test of a file, with a group for each test that names one, and ends it after the last.
 */
export function shareAppRig(options: AppRigOptions): SharedAppRig {
  const scripts = new Map<string, ModelScript>();
  let running: AppRig | undefined;
  const started = (): AppRig => {
    if (running === undefined) throw new Error("A shared host is there from the first test on.");
    return running;
  };
  beforeAll(async () => {
    running = await AppRig.start((request) => {
      const script = scripts.get(groupOf(request));
      if (script === undefined) throw new Error(`No test has the group "${groupOf(request)}".`);
      return script(request);
    }, options);
  });
  keepRunning(started);
  afterAll(() => running?.[Symbol.asyncDispose]());
  return {
    group: (name, script) => {
      scripts.set(name, script);
      const { groups, model } = started();
      const group = groups.find(({ subject }) => subject === name);
      if (group === undefined) throw new Error(`The server has no group "${name}".`);
      return {
        ...group,
        get requests() {
          return model.requests.filter((request) => groupOf(request) === name);
        },
      };
    },
    answers: (name, script) => void scripts.set(name, script),
    get running() {
      return started();
    },
  };
}
