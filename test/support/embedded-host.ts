import { execFile } from "node:child_process";
import { promisify } from "node:util";

import pino from "pino";
import { stringify } from "yaml";

import { startHost } from "../../src/wiring/host.ts";
import * as z from "zod";

import { defineChannel } from "../../src/channels/define-channel.ts";
import { withBuiltInAdapters } from "../../src/config/adapters.ts";
import { readEnvironment } from "../../src/config/environment.ts";
import { prepareHome } from "../../src/config/home/home.ts";
import { loadConfig } from "../../src/config/loading/load.ts";
import { type Clock, systemClock } from "../../src/lib/time/clock.ts";
import { Redaction } from "../../src/lib/secrets/redaction.ts";
import { FakeChannel } from "../fakes/fake-channel.ts";
import { noteEngine } from "./made-by-tests.ts";
import { crabpot, newHome, type CommandResult } from "./crabpot.ts";

/** A whole host in the test's own process, with a channel `fake` on which strangers turn up; its chat `home` is the main group. */
export interface EmbeddedHost extends AsyncDisposable {
  readonly channel: FakeChannel;
  readonly home: string;
  cli(...args: string[]): Promise<CommandResult>;
  end(): Promise<void>;
  /** Files below the home that hold this text. */
  find(text: string): Promise<string[]>;
}

/** `clock`: one that the test sets. */
export async function openEmbeddedHost(config: object = {}, clock: Clock = systemClock): Promise<EmbeddedHost> {
  await using stack = new AsyncDisposableStack();
  const place = stack.use(await newHome({ "config.yaml": stringify({ channels: { fake: {} }, ...config }) }));
  const environment = readEnvironment({ ...process.env, CRABPOT_HOME: place.home });
  const home = await prepareHome(environment.crabpotHome);
  const channel = new FakeChannel();
  const definition = defineChannel({
    name: channel.name,
    config: z.strictObject({}),
    traits: { onboards: true },
    open: async () => channel,
  });
  const adapters = withBuiltInAdapters({ channels: [definition] });
  noteEngine();
  const app = stack.use(
    await startHost({
      environment,
      home,
      loaded: await loadConfig(home.paths.config, environment.variables, adapters),
      version: "test",
      clock,
      logger: pino({ level: "silent" }),
      redaction: new Redaction(),
      console: undefined,
    }),
  );
  const cli = (...args: string[]) => crabpot(place, ...args);
  await cli("groups", "add", "office", "--channel", "fake", "--chat", "home", "--main");
  const owned = stack.move();
  return {
    channel,
    home: place.home,
    cli,
    end: async () => {
      await app[Symbol.asyncDispose]();
    },
    find: async (text) => {
      const found = await promisify(execFile)("grep", ["-rlaF", text, place.home]).catch(() => ({ stdout: "" }));
      return found.stdout.split("\n").filter((line) => line !== "");
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
