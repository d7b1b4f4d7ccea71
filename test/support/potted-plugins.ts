import { homePaths } from "../../src/config/home/home.ts";
import { pluginNameFault } from "../../src/config/loading/installed-plugins.ts";
import type { PluginIsolation } from "../../src/domain/sandbox/contained-plugin.ts";
import type { Clock } from "../../src/lib/time/clock.ts";
import { pluginFolders } from "../../src/plugins/places.ts";
import { Plugins } from "../../src/plugins/plugins.ts";
import { bodiesOf } from "../../src/plugins/process/isolation.ts";
import type { OpenPot } from "../../src/plugins/process/pot.ts";
import type { EgressOverrides } from "../../src/sandbox/egress/egress-proxies.ts";
import { createPluginInstaller } from "../../src/surfaces/cli/commands/plugins/plugin-installer.ts";
import { newHome } from "./crabpot.ts";
import { type McpRig, mcpRig } from "./mcp-rig.ts";

/** A home with installed plugins, and what makes their containers. */
export interface PottedPlugins extends AsyncDisposable {
  readonly rig: McpRig;
  /** Told about plugins that wait, end or are refused. */
  readonly news: string[];
  /** The installed plugins, none of them started. `pots`: instead of those of the rig. */
  open(how?: { readonly isolation?: PluginIsolation; readonly pots?: OpenPot }): Promise<Plugins>;
}

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** `sources`: of the home's path, folders to install from, by a process beside the test. */
export async function pottedPlugins(
  sources: (home: string) => Promise<readonly string[]>,
  egress?: EgressOverrides,
): Promise<PottedPlugins> {
  await using stack = new AsyncDisposableStack();
  const { home } = stack.use(await newHome());
  const paths = homePaths(home);
  const installer = createPluginInstaller(paths, { ...process.env }, silent, bodiesOf("process", undefined));
  for (const source of await sources(home)) await installer.install(await installer.plan(source));
  // Each look at it is ten minutes later: nothing waits to be started again.
  let at = 0;
  const clock: Clock = { now: Date.now, monotonic: () => (at += 600_000) };
  const opened = { places: pluginFolders(paths), variables: { TZ: "UTC" }, nameFault: pluginNameFault, clock };
  const rig = stack.use(await mcpRig({ servers: {}, home, plugins: await Plugins.open(opened), egress }));
  const news: string[] = [];
  const note = (plugin: string, reason: string): void => void news.push(`${plugin}: ${reason}`);
  const ofRig: OpenPot = (...wanted) => rig.servers.open(...wanted);
  const owned = stack.move();
  return {
    rig,
    news,
    open: async ({ isolation = "container", pots } = {}) => {
      const plugins = owned.use(await Plugins.open(opened));
      plugins.configure({ isolation });
      plugins.attach(silent, { ended: note, refused: note, waits: note }, pots ?? ofRig);
      return plugins;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
