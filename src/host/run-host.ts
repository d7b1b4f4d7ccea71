import { type Host, startHost } from "./host.ts";
import { logLevel } from "../config/changes/log-level.ts";
import type { Interception } from "./context.ts";
import type { Adapters } from "../config/adapters.ts";
import { type Environment, type EnvironmentVariables, readEnvironment } from "../config/environment.ts";
import { type Home, prepareHome } from "../config/home/home.ts";
import { loadConfig, type LoadedConfig } from "../config/loading/load.ts";
import { systemClock } from "../lib/time/clock.ts";
import type { EgressOverrides } from "../sandbox/egress/egress-proxies.ts";
import { DivertibleOutput } from "../lib/process/divertible-output.ts";
import { exitCodeOf, listenForSignals } from "../lib/process/listen-for-signals.ts";
import { createLogger } from "../lib/process/logger.ts";
import { Redaction } from "../lib/secrets/redaction.ts";
import type { Plugins } from "../plugins/plugins.ts";
import { readVersion } from "../lib/process/version.ts";
import { adaptersWith, openInstalledPlugins } from "../config/loading/installed-plugins.ts";
import { announce, hasLostTerminal, runToTheEnd, tellRefused } from "../surfaces/cli/host-process.ts";
import { lockHome } from "../stores/catalog.ts";

export interface HostRunOptions {
  /**
   * Talk to the agents through the streams of this process: with a prompt for a person, otherwise one message per line
   * until the input ends.
   */
  readonly console: boolean;
  /** Replies as JSON lines. */
  readonly json: boolean;
  readonly env: EnvironmentVariables;
  /** Additional channels, provider kinds and tools that the configuration may name. */
  readonly adapters?: Partial<Adapters> | undefined;
  /** Overrides for programs that embed the host; not reachable from the configuration. */
  readonly egress?: EgressOverrides | undefined;
  readonly interception?: Interception | undefined;
}

/**
 * Runs the host until a stop request, or until its input has ended and is answered. Resolves with the exit code: 0, or
 * the signal's when nobody asked for this end.
 */
export async function run(options: HostRunOptions): Promise<number> {
  let running: Host | undefined;
  // What changes while the host starts is found when it begins to watch the files.
  using signals = listenForSignals(() => void running?.reload());
  const environment = readEnvironment(options.env);
  const home = await prepareHome(environment.crabpotHome);
  await using held = new AsyncDisposableStack();
  const { plugins, loaded } = await loadWithPlugins(options, { environment, home });
  held.use(plugins);
  held.use(await lockHome(home.paths.root, { pid: process.pid, startedAt: systemClock.now() }));
  const interactive = options.console && process.stdin.isTTY && process.stdout.isTTY;
  const redaction = new Redaction(loaded.secrets);
  const logs = new DivertibleOutput(process.stderr);
  const logger = createLogger({
    level: logLevel(loaded.config, options.console),
    output: logs,
    format: process.stderr.isTTY ? "pretty" : "json",
    file: home.paths.hostLog,
    redact: redaction.redact,
  });
  if (home.isNew) process.stderr.write(`crabpot: made a new home in ${home.paths.root}\n`);
  announce(loaded);
  const { json } = options;
  const streams = { input: process.stdin, output: process.stdout, error: process.stderr };
  let refused = 0;
  const onRefused = (): void => void (refused += 1);
  const onInterrupt = signals.interrupt;
  const stopped = new AbortController();
  void signals.received.then(() => stopped.abort(new Error("the host was told to stop")));
  try {
    const host = await startHost(
      {
        environment,
        home,
        loaded,
        version: await readVersion(environment.checkout),
        clock: systemClock,
        logger,
        redaction,
        console: options.console ? { ...streams, json, interactive, logs, onRefused, onInterrupt } : undefined,
        plugins,
        egress: options.egress,
        interception: options.interception,
      },
      stopped.signal,
    );
    running = host;
    const code = await runToTheEnd(host, interactive, signals);
    return code === 0 && !interactive && refused > 0 ? tellRefused(refused) : code;
  } catch (error) {
    if (error === stopped.signal.reason) return await signals.received;
    if (hasLostTerminal(interactive)) return exitCodeOf("SIGHUP");
    throw error;
  }
}

/** The configuration, as what is installed lets it be. */
async function loadWithPlugins(
  options: HostRunOptions,
  { environment, home }: { readonly environment: Environment; readonly home: Home },
): Promise<{ readonly plugins: Plugins | undefined; readonly loaded: LoadedConfig }> {
  const plugins = await openInstalledPlugins(home.paths, environment.variables);
  const adapters = adaptersWith(plugins, options.adapters);
  const loaded = await loadConfig(home.paths.config, environment.variables, adapters);
  plugins?.configure(loaded.config.plugins);
  return { plugins, loaded };
}
