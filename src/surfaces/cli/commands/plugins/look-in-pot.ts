import { randomBytes } from "node:crypto";

import pino from "pino";

import { readInstance } from "../../../../config/home/home.ts";
import { hostUid } from "../../../../lib/process/host-uid.ts";
import type { StartPluginBody } from "../../../../plugins/process/isolation.ts";
import { bodiesOf } from "../../../../plugins/process/isolation.ts";
import { openEngine } from "../../../../sandbox/engine/catalog.ts";
import { prepareEngine } from "../../../../sandbox/engine/prepare-engine.ts";
import { containerUser } from "../../../../sandbox/mounts/container-user.ts";
import { sandboxSize } from "../../../../sandbox/profile/profile.ts";
import { Servers } from "../../../../sandbox/servers/servers.ts";
import type { CommandContext } from "../../context.ts";

/** The last number but one of the home's block of users: groups are numbered from 0, and `doctor` has the last. */
const lookOrdinal = 998;

/** Starts plugins as a command looks at them: in a container without a network, which ends with the command. */
export interface PluginLook extends AsyncDisposable {
  readonly start: StartPluginBody;
}

/** Asks the engine when the first plugin is started. */
export function lookInPot(context: CommandContext, { said }: { readonly said: (line: string) => void }): PluginLook {
  const stack = new AsyncDisposableStack();
  const logger = pino({ level: "info", messageKey: "said" }, { write: (line: string) => said(saidIn(line)) });
  const open = async (): Promise<Servers> => {
    const { environment, paths } = context;
    const { config } = await context.loadPartOfConfig(["sandbox"]);
    // Before its first start a home has no id.
    const instance = (await readInstance(paths.instance)) ?? randomBytes(8).toString("hex");
    const engine = stack.use(await openEngine({ env: environment.variables, homeFolder: environment.userHome }));
    const { checkout } = environment;
    const choice = containerUser({ ordinal: lookOrdinal, instance, grantedMounts: [], hostUid: hostUid() });
    if (!("user" in choice)) throw new Error(choice.refused);
    const { user } = choice;
    return stack.use(
      new Servers({
        engine,
        instance,
        image: () => prepareEngine(engine, { runtime: () => config.sandbox.runtime, checkout, publish, logger }),
        sandbox: sandboxSize(config.sandbox),
        userOf: async () => user,
        dataFolder: nothing,
        groupFolder: nothing,
        admit: nothing,
        openEgress: async () => undefined,
        publish,
        logger,
      }),
    );
  };
  return {
    start: async (wanted, signal) => {
      const servers = await open();
      return bodiesOf("container", (...opened) => servers.open(...opened))(wanted, signal);
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** No host keeps records of what a command looks at. */
async function publish(): Promise<void> {}

async function nothing(): Promise<never> {
  throw new Error("a plugin has no folder but its own");
}

function saidIn(line: string): string {
  return (JSON.parse(line) as { readonly said?: string }).said ?? "";
}
