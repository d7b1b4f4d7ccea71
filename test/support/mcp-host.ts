import { stringify } from "yaml";

import { homePaths } from "../../src/config/home/home.ts";
import { HostClient } from "../../src/surfaces/cli/host-client.ts";
import type { Host } from "../../src/host/host.ts";
import { FakeChannel } from "../fakes/fake-channel.ts";
import { AgentsInProcess } from "./agents-in-process.ts";
import { crabpot, newHome, type CommandResult } from "./crabpot.ts";
import { startInProcess } from "./embedded-host.ts";
import { openTestServers, type ServerScript, type TestServers } from "./mcp-servers.ts";
import type { ModelScript, ModelServer } from "./model-servers/model-server.ts";
import { startOpenAiServer } from "./model-servers/openai.ts";

/**
 * A host whose group `family` has MCP servers that are processes of the test; its agents are in the test's process,
 * too.
 */
export interface McpHost extends AsyncDisposable {
  readonly channel: FakeChannel;
  readonly model: ModelServer;
  readonly servers: TestServers;
  readonly home: string;
  /** Lines of the host's log. */
  readonly log: readonly string[];
  host(): Host;
  /** Says something, and returns the answer. */
  ask(text: string): Promise<string>;
  cli(...args: string[]): Promise<CommandResult>;
  /** Asks the host what the command line asks it, without a process for each look. */
  readonly control: HostClient;
  restart(): Promise<void>;
}

export async function startMcpHost(
  script: ModelScript,
  options: {
    readonly scripts: Readonly<Record<string, ServerScript>>;
    readonly settings?: Readonly<Record<string, object>>;
    readonly config?: object;
    readonly group?: object;
  },
): Promise<McpHost> {
  await using stack = new AsyncDisposableStack();
  const servers = stack.use(await openTestServers(options.scripts));
  const model = stack.use(await startOpenAiServer(script));
  const names = Object.keys(options.scripts);
  const config = {
    channels: { fake: {} },
    models: {
      routes: { main: ["gpt/test"] },
      providers: { gpt: { kind: "openai", apiKey: "sk-none-needed-here", baseUrl: model.url } },
    },
    mcp: {
      servers: Object.fromEntries(names.map((name) => [name, { command: "server", ...options.settings?.[name] }])),
    },
    policy: { preset: "open" },
    groups: { family: { channel: "fake", chat: "family", trigger: "always", mcp: names, ...options.group } },
    ...options.config,
  };
  const place = stack.use(await newHome({ "config.yaml": stringify(config) }));
  const channel = new FakeChannel();
  const log: string[] = [];
  const start = (): Promise<Host> =>
    startInProcess(place.home, { channel, agents: new AgentsInProcess(), servers: servers.open, log });
  let host = await start();
  stack.defer(() => host[Symbol.asyncDispose]());
  const owned = stack.move();
  return {
    channel,
    model,
    servers,
    home: place.home,
    log,
    host: () => host,
    ask: async (text) => {
      const before = channel.heard("family").length;
      await channel.say("family", text);
      await host.settled();
      return channel.heard("family").slice(before).join("\n");
    },
    cli: (...args) => crabpot(place, ...args),
    control: new HostClient(homePaths(place.home).controlSocket),
    restart: async () => {
      await host[Symbol.asyncDispose]();
      host = await start();
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** A model that makes these calls, one an answer, and then says what came of the last one. */
export function callsThenSays(...calls: readonly { readonly name: string; readonly input?: unknown }[]): ModelScript {
  return ({ messages }) => {
    const last = messages.findLastIndex(({ role }) => role === "user");
    const results = messages.slice(last + 1).filter(({ role }) => role === "tool");
    const call = calls[results.length];
    if (call) return { toolCalls: [{ name: call.name, input: call.input ?? {} }] };
    return { text: results.at(-1)?.text ?? "nothing was called" };
  };
}
