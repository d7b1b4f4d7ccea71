import { TestHost } from "../../test/support/host.ts";
import { Client } from "./client.ts";

export interface BenchHost extends AsyncDisposable {
  readonly host: TestHost;
  readonly client: Client;
}

export interface BenchHostOptions {
  readonly modelUrl: string;
  readonly groups: readonly string[];
  /** Top-level keys of the configuration. */
  readonly config?: { readonly intake?: object; readonly [key: string]: unknown };
  /** Of the model `local/bench`. */
  readonly capabilities?: object;
  /** Left out: every message is for the agent. */
  readonly trigger?: "always" | "mention";
}

/** Everything of a host but its process, in a home of its own. */
export async function prepareHost(options: BenchHostOptions): Promise<TestHost> {
  const { modelUrl, groups, config, capabilities = {}, trigger = "always" } = options;
  const models = {
    routes: { main: ["local/bench"] },
    providers: { local: { kind: "openai", apiKey: "sk-none-needed-here", baseUrl: modelUrl } },
    capabilities,
  };
  // A bench says in minutes what people say in a month.
  const perDay = { messages: 100_000_000, megabytes: 1_000_000 };
  const intake = { perGroupPerDay: perDay, perMemberPerDay: perDay, ...config?.intake };
  const named = Object.fromEntries(groups.map((name) => [name, { trigger }]));
  return TestHost.prepare({ groups: named, config: { models, ...config, intake } });
}

/** A real host process with groups of these names, and a client that listens to it. */
export async function startHost(options: BenchHostOptions): Promise<BenchHost> {
  await using stack = new AsyncDisposableStack();
  const host = stack.use(await prepareHost(options));
  await host.boot();
  const client = stack.use(new Client(host));
  const owned = stack.move();
  return { host, client, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Names `group-0` … */
export function groupNames(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `group-${index}`);
}
