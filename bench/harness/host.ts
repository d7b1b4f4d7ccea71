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
  /** Settings of the model `local/bench`. */
  readonly capabilities?: object;
  /** Trigger of the group; every message by default. */
  readonly trigger?: "always" | "mention";
}

/** Prepares a separate home and everything of a host but its process. */
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
