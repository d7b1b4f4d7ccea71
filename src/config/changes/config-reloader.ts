import type { Logger } from "pino";

import type { ConfigDifferences, ConfigState, ReloadReport } from "../../domain/settings/config-state.ts";
import type { SettingAuthor, SettingChange } from "../../domain/settings/setting.ts";
import type { Publish } from "../../domain/events/event.ts";
import { AppError, isPassing, toError } from "../../lib/app-error.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { settingChanges } from "../explain/setting-changes.ts";
import { type ConfigChange, planChange } from "./config-change.ts";
import { describeFault, type ConfigCheck, type LoadedConfig } from "../loading/load.ts";
import type { ConfigFault } from "../faults.ts";
import type { Config } from "../schema/config.ts";
import { ownCommand } from "../../lib/process/own-command.ts";

export interface ConfigReloaderOptions {
  readonly running: () => Config;
  /** config.yaml as it is now; a file that is gone while the host runs is a fault. */
  readonly readConfig: () => Promise<ConfigCheck>;
  /** Returns why mounts.json is unusable; undefined when usable or missing. */
  readonly readMounts: () => Promise<string | undefined>;
  /** Puts the change on record and makes it hold. */
  readonly apply: (change: AppliedChange, loaded: LoadedConfig) => Promise<void>;
  /** Something outside of config.yaml that containers are made from may have changed. */
  readonly reviewContainers: () => void | Promise<void>;
  readonly publish: Publish<"config.refused">;
  /** Says it to the operator in a chat: paths only, never values. */
  readonly tell: (text: string) => void;
  readonly clock: Pick<Clock, "now">;
  readonly logger: Logger;
}

/** A change with who made it, and what it does setting by setting. */
export interface AppliedChange extends ConfigChange {
  readonly by: SettingAuthor;
  readonly changes: readonly SettingChange[];
}

/** Whoever can write the file is the operator. */
const byHand: SettingAuthor = { actor: "operator", via: "file" };

/** Result of reading the files. */
interface Findings {
  readonly configFaults: readonly ConfigFault[];
  readonly mountsFault: string | undefined;
  readonly restart: readonly string[];
}

/** Trouble of the machine, such as a full disk, is over some time, and the file does not change once more. */
const retryMs = 5_000;

/** Applies what is written in config.yaml while the host runs, one reload at a time. */
export class ConfigReloader implements AsyncDisposable {
  readonly #options: ConfigReloaderOptions;
  #state: ConfigState;
  #working: Promise<unknown> = Promise.resolve();
  #next: Promise<ReloadReport> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(options: ConfigReloaderOptions) {
    this.#options = options;
    this.#state = { state: "applied", since: options.clock.now() };
  }

  state(): ConfigState {
    return this.#state;
  }

  /** Reads the files and applies what can hold now. Those who ask while one is under way share the one after it. */
  reload(): Promise<ReloadReport> {
    this.#next ??= this.#after(this.#working, () => {
      this.#next = undefined;
      return this.#reload(byHand);
    });
    return this.#next;
  }

  /** Writes config.yaml and applies it, before anybody else reads it. When `write` rejects, nothing is applied. */
  edit(by: SettingAuthor, write: () => Promise<unknown>): Promise<ReloadReport> {
    return this.inTurn(async () => {
      await write();
      return this.#reload(by);
    });
  }

  /** Does something while no settings change, after all that were asked for before. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#after(this.#working, work);
  }

  /** The same for those who do not wait: never rejects, and tries again where the machine was in trouble. */
  async reloadSoon(): Promise<void> {
    clearTimeout(this.#retry);
    if (this.#isOver) return;
    try {
      await this.reload();
    } catch (error) {
      this.#options.logger.error({ err: toError(error) }, "a changed configuration could not be applied; retrying");
      this.#retry = setTimeout(() => void this.reloadSoon(), retryMs).unref();
    }
  }

  /** Differences between config.yaml and the running configuration; changes nothing. */
  async diff(): Promise<ConfigDifferences> {
    const check = await this.#options.readConfig();
    if (!check.ok)
      return { faults: describeAll({ configFaults: check.faults, mountsFault: undefined }), differences: [] };
    const { config: wanted, adapters } = check.loaded;
    const running = this.#options.running();
    return { faults: [], differences: settingChanges(planChange(running, wanted), { running, wanted, adapters }) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    clearTimeout(this.#retry);
    await this.#working;
  }

  async #after<Result>(before: Promise<unknown>, work: () => Promise<Result>): Promise<Result> {
    const doing = before.then(work);
    this.#working = doing.catch(() => undefined);
    return doing;
  }

  async #reload(by: SettingAuthor): Promise<ReloadReport> {
    const { readConfig, readMounts, running, reviewContainers } = this.#options;
    const check = await readConfig();
    const mountsFault = await readMounts();
    const change = check.ok ? describeChange(running(), check.loaded, by) : undefined;
    const configFaults = check.ok && change ? await this.#apply(change, check.loaded) : faultsOf(check);
    const isUsed = configFaults.length === 0;
    const restart = (isUsed ? change?.restart : this.#state.restart) ?? [];
    await this.#note({ configFaults, mountsFault, restart });
    await reviewContainers();
    const used = isUsed ? change : undefined;
    return { changed: used?.now ?? [], changes: used?.changes ?? [], config: this.#state };
  }

  /** Returns what keeps a valid file from being applied, such as a link in place of a group's folder. */
  async #apply(change: AppliedChange, loaded: LoadedConfig): Promise<readonly ConfigFault[]> {
    const { state, restart } = this.#state;
    if (change.now.length === 0 && isSame(change.restart, restart) && state !== "invalid") return [];
    try {
      await this.#options.apply(change, loaded);
      return [];
    } catch (error) {
      if (!(error instanceof AppError) || isPassing(error)) throw error;
      return [{ path: "", detail: error.message, fix: error.fix }];
    }
  }

  async #note(found: Findings): Promise<void> {
    const before = this.#state;
    const faults = describeAll(found);
    const hasNewFaults = !isSame(faults, before.faults);
    const hasNewRestart = !isSame(found.restart, before.restart);
    if (!hasNewFaults && !hasNewRestart) return;
    if (hasNewFaults && faults.length > 0) await this.#refuse(found, faults);
    this.#state = stateOf(faults, found.restart, this.#options.clock.now());
    if (faults.length === 0 && before.state === "invalid") this.#tellMended();
    const { restart } = this.#state;
    if (restart && hasNewRestart) this.#options.logger.warn({ restart }, `needs a restart: ${restart.join(", ")}`);
  }

  async #refuse({ configFaults, mountsFault }: Findings, faults: readonly string[]): Promise<void> {
    const paths = configFaults.map(({ path }) => (path === "" ? "config.yaml" : path));
    if (mountsFault !== undefined) paths.push("mounts.json");
    await this.#options.publish({ type: "config.refused", actor: "host", data: { paths } });
    this.#tellRefused(faults, paths);
  }

  #tellRefused(faults: readonly string[], paths: readonly string[]): void {
    const { logger, tell } = this.#options;
    const isConfig = paths.some((path) => path !== "mounts.json");
    const effect = isConfig
      ? "It changes nothing; the settings of before still hold."
      : "No mount is allowed until then.";
    const name = isConfig ? "config.yaml" : "mounts.json";
    logger.error({ faults }, `${name} cannot be used. ${effect}`);
    const shown = paths.filter((path) => path !== name).slice(0, 5);
    const where = shown.length > 0 ? ` (${shown.join(", ")})` : "";
    const how = `\`${ownCommand(isConfig ? "config check" : "status")}\` says what is wrong.`;
    tell(`${name} was changed and cannot be used${where}. ${effect} ${how}`);
  }

  #tellMended(): void {
    this.#options.logger.info("config.yaml and mounts.json can be used again");
    this.#options.tell("The configuration can be used again.");
  }
}

function describeChange(running: Config, { config: wanted, adapters }: LoadedConfig, by: SettingAuthor): AppliedChange {
  const change = planChange(running, wanted);
  return { ...change, by, changes: settingChanges(change, { running, wanted, adapters }) };
}

function faultsOf(check: ConfigCheck): readonly ConfigFault[] {
  return check.ok ? [] : check.faults;
}

function stateOf(faults: readonly string[], restart: readonly string[], since: number): ConfigState {
  const state = faults.length > 0 ? "invalid" : restart.length > 0 ? "restart-needed" : "applied";
  return { state, since, ...(faults.length > 0 && { faults }), ...(restart.length > 0 && { restart }) };
}

function describeAll({ configFaults, mountsFault }: Pick<Findings, "configFaults" | "mountsFault">): string[] {
  const faults = configFaults.map((fault) => `config.yaml: ${describeFault(fault)}`);
  return mountsFault === undefined ? faults : [...faults, `mounts.json: ${mountsFault}`];
}

function isSame(one: readonly string[], other: readonly string[] = []): boolean {
  return one.length === other.length && one.every((text, index) => text === other[index]);
}
