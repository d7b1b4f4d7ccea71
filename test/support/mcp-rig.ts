import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";

import pino from "pino";
import { stringify } from "yaml";

import { withBuiltInAdapters } from "../../src/config/adapters.ts";
import { readEnvironment } from "../../src/config/environment.ts";
import { configuredGroups } from "../../src/config/configured/groups.ts";
import { prepareHome } from "../../src/config/home/home.ts";
import { loadConfig } from "../../src/config/loading/load.ts";
import { programOf } from "../../src/abilities/mcp/packages/server-program.ts";
import { mcpServers } from "../../src/config/configured/mcp.ts";
import type { StdioServer } from "../../src/domain/sandbox/mcp-server.ts";
import type { HostEvent } from "../../src/domain/events/event.ts";
import { Redaction } from "../../src/lib/secrets/redaction.ts";
import { systemClock } from "../../src/lib/time/clock.ts";
import type { ServerStreams } from "../../src/sandbox/servers/server-streams.ts";
import { createMetrics } from "../../src/records/metrics/metrics.ts";
import type { ContainerEngine } from "../../src/sandbox/engine/engine.ts";
import type { EgressOverrides } from "../../src/sandbox/egress/egress-proxies.ts";
import type { Plugins } from "../../src/plugins/plugins.ts";
import type { Servers } from "../../src/sandbox/servers/servers.ts";
import { GroupNotices } from "../../src/delivery/group-notices.ts";
import type { AppContext } from "../../src/host/context.ts";
import { openContainers, openEngineLater } from "../../src/host/containers.ts";
import { openFoundation } from "../../src/host/foundation.ts";
import { newHome } from "./crabpot.ts";
import { noteEngine } from "./made-by-tests.ts";
import { Registry } from "prom-client";

/**
 * The containers of MCP servers as a host makes them, of a home with a configuration, in the test's own process; and
 * nothing else of the host.
 */
export interface McpRig extends AsyncDisposable {
  readonly home: string;
  readonly engine: ContainerEngine;
  readonly servers: Servers;
  /** Removes leftovers, as a host does at start. */
  readonly reconcile: () => Promise<void>;
  readonly events: readonly HostEvent[];
  /** Log lines of the host. */
  readonly logged: readonly string[];
  open(server: string, group?: string): Promise<ServerStreams>;
  server(name: string): StdioServer;
}

export interface McpRigOptions {
  readonly servers: Readonly<Record<string, object>>;
  /** The rest of config.yaml. */
  readonly config?: object;
  readonly variables?: Readonly<Record<string, string>>;
  /** Name resolution and certificates that replace the internet's. */
  readonly egress?: EgressOverrides | undefined;
  /** Python programs of the operator's, by the server that runs them. */
  readonly programs?: Readonly<Record<string, string>>;
  /** Installed in that home. */
  readonly plugins?: Plugins | undefined;
  /** A home that was there before; left out: a new one. */
  readonly home?: string | undefined;
}

/** In `servers`: one that runs its program of `programs`. */
export const ownProgram = { command: "python3", args: ["-u", "/opt/mcp/main.py"] } as const;

export async function mcpRig(wanted: McpRigOptions): Promise<McpRig> {
  const { servers, config = {}, variables = {}, programs: ownPrograms = {} } = wanted;
  noteEngine();
  await using stack = new AsyncDisposableStack();
  const chat = (name: string): object => ({ channel: "terminal", chat: name, mcp: Object.keys(servers) });
  const groups = { family: chat("family"), work: chat("work") };
  const text = stringify({ groups, ...config, mcp: { servers } });
  const folder = wanted.home ?? stack.use(await newHome()).home;
  await writeFile(join(folder, "config.yaml"), text, { mode: 0o600 });
  for (const [name, program] of Object.entries(ownPrograms)) {
    await mkdir(join(folder, "mcp/files", name), { recursive: true });
    await writeFile(join(folder, "mcp/files", name, "main.py"), program, { mode: 0o644 });
  }
  const environment = readEnvironment({ ...process.env, ...variables, CRABPOT_HOME: folder });
  const home = await prepareHome(environment.crabpotHome);
  const loaded = await loadConfig(home.paths.config, environment.variables, withBuiltInAdapters({}));
  const logged: string[] = [];
  const logger = pino({ level: "info" }, { write: (line: string) => void logged.push(line) });
  const options = { environment, home, loaded, version: "test", clock: systemClock, logger };
  const foundation = await openFoundation({ ...options, redaction: new Redaction() }, stack);
  const context: AppContext = { ...foundation, metrics: createMetrics(new Registry()) };
  const events: HostEvent[] = [];
  context.events.subscribe("test", (event) => void events.push(event));
  const engine = openEngineLater(context, stack);
  const all = configuredGroups(context.config);
  const groupOf = (name: string) => all.find((group) => group.name === name);
  const registry = { list: () => all, byName: groupOf } as unknown as Parameters<typeof openContainers>[2]["groups"];
  const notices = new GroupNotices(context.store.outbox, () => undefined, systemClock);
  const parts = { engine, notices, tell: async () => undefined, groups: registry };
  const containers = await openContainers(context, stack, {
    ...parts,
    egress: wanted.egress,
    plugins: wanted.plugins,
    skills: { skillsIn: async () => [] },
  });
  const serverOf = (name: string): StdioServer => {
    const found = mcpServers(context.config).find((server) => server.name === name);
    if (found?.kind !== "stdio") throw new Error(`There is no server ${name}.`);
    return found;
  };
  const programs = {
    folder: home.paths.mcp,
    packages: {
      lock: home.paths.mcpLock,
      folder: join(home.paths.mcp, "packages"),
      variables: environment.variables,
      now: Date.now,
    },
    installed: () => context.installed.look(),
    logger,
  };
  const owned = stack.move();
  return {
    home: home.paths.root,
    engine,
    servers: containers.servers,
    reconcile: () => containers.pool.reconcile(async () => undefined),
    events,
    logged,
    server: serverOf,
    open: (name, group = "family") =>
      containers.servers.open(
        { server: serverOf(name), program: (signal) => programOf(programs, serverOf(name), signal) },
        groupOf(group),
        AbortSignal.timeout(500_000),
      ),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Asks a server as the protocol says, a line of JSON for each message. */
export class McpLines {
  readonly #streams: ServerStreams;
  readonly #lines: AsyncIterator<string>;
  #asked = 0;

  constructor(streams: ServerStreams) {
    this.#streams = streams;
    this.#lines = createInterface({ input: streams.output })[Symbol.asyncIterator]();
  }

  async initialize(): Promise<Record<string, unknown>> {
    const clientInfo = { name: "test", version: "1" };
    const answer = await this.ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
    this.#write({ jsonrpc: "2.0", method: "notifications/initialized" });
    return answer;
  }

  /** The result; what the server says or asks in between is passed over. */
  async ask(method: string, params: object = {}): Promise<Record<string, unknown>> {
    this.#asked += 1;
    const id = this.#asked;
    this.#write({ jsonrpc: "2.0", id, method, params });
    for (;;) {
      const { value, done } = await this.#lines.next();
      if (done === true) throw new Error(`The server has ended: ${(await this.#streams.ended).reason}`);
      const message = JSON.parse(value) as { id?: number; method?: string; result?: Record<string, unknown> };
      if (message.id === id && message.method === undefined) {
        if (message.result === undefined) throw new Error(`The server answered ${value}`);
        return message.result;
      }
    }
  }

  /** The next line, whatever it is. */
  async line(): Promise<string> {
    return String((await this.#lines.next()).value);
  }

  write(line: string): void {
    this.#streams.input.write(`${line}\n`);
  }

  #write(message: object): void {
    this.write(JSON.stringify(message));
  }
}
