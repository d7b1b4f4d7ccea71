import { TestHost } from "./host.ts";
import type { HostOptions } from "./host-options.ts";
import type { ModelScript, ModelServer, ModelServerRequest } from "./model-servers/model-server.ts";
import { startOpenAiServer } from "./model-servers/openai.ts";

/** A canary: must never be seen in a container or a log. */
export const modelKey = "sk-canary-4f1c9a7be2d04be8";

/** A real host whose model is a scripted server of the test. */
export interface ModelHost extends AsyncDisposable {
  readonly host: TestHost;
  readonly model: ModelServer;
}

export interface ModelHostOptions extends HostOptions {
  readonly models?: object;
  readonly providers?: object;
  /** Its process is not started. */
  readonly prepared?: boolean;
}

/** For tests in which nothing is about containers: see `HostOptions.withoutContainers`. */
export function startWithoutContainers(script: ModelScript, options: ModelHostOptions = {}): Promise<ModelHost> {
  return startModelHost(script, { ...options, withoutContainers: "all" });
}

/**
 * Starts a host in the test's process, with agents whose shell is there, too. It is for what depends on the order of
 * writes alone: what the kernel and the container engine do at a death is seen with separate processes only.
 */
export function startMortalHost(script: ModelScript, options: ModelHostOptions = {}): Promise<ModelHost> {
  return startModelHost(script, { ...options, withoutContainers: "all", shellHere: true });
}

export async function startModelHost(script: ModelScript, options: ModelHostOptions = {}): Promise<ModelHost> {
  await using stack = new AsyncDisposableStack();
  const model = stack.use(await startOpenAiServer(script));
  const models = modelsAt(model.url, options);
  const host = stack.use(await TestHost.prepare({ ...options, config: { models, ...options.config } }));
  if (!options.prepared) await host.boot();
  const owned = stack.move();
  return { host, model, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** The part of the configuration that leads to the server. */
export function modelsAt(baseUrl: string, { providers, models }: ModelHostOptions): object {
  return {
    routes: { main: ["gpt/test-model"] },
    providers: { gpt: { kind: "openai", apiKey: modelKey, baseUrl }, ...providers },
    attempts: 2,
    ...models,
  };
}

/** Which group the request is about, as the system prompt says. */
export function groupOf(request: ModelServerRequest): string {
  return /chat group "([^"]+)"/.exec(request.system)?.[1] ?? "";
}

/** A model that runs each command once, in order, one per answer, and then says the outputs. */
export function runsInOrder(...commands: readonly string[]): ModelScript {
  return (request) => {
    const done = request.messages.filter((message) => message.role === "tool");
    const command = commands[done.length];
    if (command === undefined) return { text: done.map((message) => message.text).join("\n") };
    return { toolCalls: [{ name: "shell", input: { command } }] };
  };
}
