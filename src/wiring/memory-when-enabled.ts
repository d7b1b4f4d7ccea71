import { toError } from "../lib/app-error.ts";
import { ToolError } from "../protocol/tools.ts";
import type { MemoryPort } from "../tools/memory-port.ts";
import type { TurnScope } from "../turns/turn-options.ts";
import type { AppContext } from "./context.ts";
import type { Memories, MemoriesOptions } from "./memory.ts";

/** What groups remember, for turns: nothing of it is loaded before `memory.enabled` is set, which may be while the host runs. */
export function createMemoriesWhenEnabled(
  context: AppContext,
  stack: AsyncDisposableStack,
  options: MemoriesOptions,
): Pick<Memories, "recall" | "port" | "resume"> {
  const { live, logger } = context;
  const owned = stack.use(new AsyncDisposableStack());
  let loading: Promise<Memories | undefined> | undefined;
  const load = async (): Promise<Memories | undefined> => {
    try {
      const { createMemories } = await import("./memory.ts");
      return owned.disposed ? undefined : createMemories(context, owned, options);
    } catch (error) {
      logger.error({ err: toError(error) }, "groups remember nothing: what does it could not be loaded");
      return undefined;
    }
  };
  const whenEnabled = async (): Promise<Memories | undefined> =>
    live.current.memory.enabled ? (loading ??= load()) : undefined;
  /** What is there already looks at changes itself. */
  const resume = (): void => {
    if (loading === undefined) void whenEnabled().then((memories) => memories?.resume());
  };
  live.onChange(resume);
  return {
    recall: async (place, messages, at) => (await whenEnabled())?.recall?.(place, messages, at),
    port: (scope) => (live.current.memory.enabled ? portOf(whenEnabled, scope) : undefined),
    resume,
  };
}

function portOf(whenEnabled: () => Promise<Memories | undefined>, scope: TurnScope): MemoryPort {
  const port = async (): Promise<MemoryPort> => {
    const opened = (await whenEnabled())?.port(scope);
    if (!opened) throw new ToolError("This group remembers nothing.");
    return opened;
  };
  return {
    search: async (query, how) => (await port()).search(query, how),
    store: async (memory) => (await port()).store(memory),
    forget: async (id) => (await port()).forget(id),
  };
}
