import { execFile } from "node:child_process";
import { promisify } from "node:util";

import pino from "pino";
import { stringify } from "yaml";

import type { Channel } from "../../src/channels/channel.ts";
import type { OpenStdio } from "../../src/sandbox/servers/server-streams.ts";
import type { Launcher } from "../../src/sandbox/pool/launch.ts";
import { type Host, startHost } from "../../src/host/host.ts";
import { type Interception, noInterception } from "../../src/host/context.ts";
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

export interface InProcess {
  /** Its only channel besides the built-in ones. */
  readonly channel: Channel;
  readonly clock?: Clock;
  /** Agents run in the test's process, too, and not in containers. */
  readonly agents?: Launcher;
  /** MCP servers are opened by this, and not in containers. */
  readonly servers?: OpenStdio;
  /** Lines of its log; left out: nobody reads it. */
  readonly log?: string[];
  /** More variables of its environment. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Additional interception by the test. */
  readonly intercept?: Partial<Interception>;
}

/** The host of a home with a configuration, in the test's own process. */
export async function startInProcess(
  folder: string,
  { channel, clock = systemClock, agents, servers, log, variables, intercept }: InProcess,
): Promise<Host> {
  const environment = readEnvironment({ ...process.env, ...variables, CRABPOT_HOME: folder });
  const home = await prepareHome(environment.crabpotHome);
  const definition = defineChannel({
    name: channel.name,
    config: z.strictObject({}),
    traits: { onboards: true },
    open: async () => channel,
  });
  const adapters = withBuiltInAdapters({ channels: [definition] });
  return startHost({
    environment,
    home,
    loaded: await loadConfig(home.paths.config, environment.variables, adapters),
    version: "test",
    clock,
    logger: log ? pino({}, { write: (line: string) => void log.push(line) }) : pino({ level: "silent" }),
    redaction: new Redaction(),
    console: undefined,
    interception: {
      ...noInterception,
      ...(agents && { launcher: () => agents }),
      ...(servers && { servers: () => servers }),
      ...intercept,
    },
  });
}

/**
 * A whole host in the test's own process, with a channel `fake` on which strangers turn up; its chat `home` is the main
 * group.
 */
export interface EmbeddedHost extends AsyncDisposable {
  readonly channel: FakeChannel;
  readonly home: string;
  cli(...args: string[]): Promise<CommandResult>;
  end(): Promise<void>;
  /** Files below the home that hold this text. */
  find(text: string): Promise<string[]>;
}

/** `clock`: one that the test sets; `agents`: where nothing is about containers, what runs them instead. */
export async function openEmbeddedHost(
  config: object = {},
  { clock = systemClock, agents }: { readonly clock?: Clock; readonly agents?: Launcher } = {},
): Promise<EmbeddedHost> {
  await using stack = new AsyncDisposableStack();
  const channel = new FakeChannel();
  const place = stack.use(await newHome({ "config.yaml": stringify({ channels: { fake: {} }, ...config }) }));
  noteEngine();
  const app = stack.use(await startInProcess(place.home, { channel, clock, ...(agents && { agents }) }));
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
