type OperationOutcome = {
  readonly operation: string;
  readonly parameters: Readonly<Record<string, string | number | boolean>>;
  readonly outcome: string;
};

/** Events about the host itself, its configuration, channels and operators. */
export interface HostEventData {
  "host.started": {
    readonly version: string;
    readonly node: string;
    readonly pid: number;
    readonly instance: string;
  };
  "host.stopped": Readonly<Record<string, never>>;
  /** The home is a copy of another one, or was one, and gets its own id. Paths of folders. */
  "home.copied": {
    readonly from: string;
    readonly to: string;
    readonly formerInstance: string;
    readonly instance: string;
  };
  "config.loaded": { readonly sha256: string; readonly fromFile: boolean };
  /**
   * A changed config.yaml holds. Paths of the settings that changed, and of those that need a restart; never their
   * values.
   */
  "config.applied": {
    readonly sha256: string;
    readonly fromFile: boolean;
    readonly changed: readonly string[];
    readonly restart: readonly string[];
  };
  /** Announces a change of the settings of a group added at run time. Paths of settings, never values. */
  "settings.changed": { readonly paths: readonly string[] };
  /** A changed file cannot be used. Paths of the settings that are wrong, or names of files. */
  "config.refused": { readonly paths: readonly string[] };
  "engine.judged": {
    readonly kind: string;
    readonly version: string;
    readonly components: Readonly<Record<string, string>>;
    readonly kernel: string;
    readonly findings: readonly string[];
  };
  /** Counts of what was removed. */
  "store.pruned": {
    readonly messages: number;
    readonly steps: number;
    readonly replies: number;
    readonly chats: number;
    readonly days: number;
    readonly approvals?: number | undefined;
    readonly events?: number | undefined;
    readonly blobs?: number | undefined;
    readonly jobs?: number | undefined;
    readonly subAgents?: number | undefined;
  };
  "channel.changed": { readonly channel: string; readonly state: string; readonly detail?: string | undefined };
  /**
   * A plugin, a skill or the package of an MCP server is installed, replaced or gone since the host looked last;
   * `change` says which.
   */
  "installed.changed": {
    readonly kind: string;
    readonly name: string;
    readonly change: string;
    readonly version: string | undefined;
    readonly sha256: string;
  };
  /** A plugin is not used, for this reason. */
  "plugin.refused": { readonly plugin: string; readonly reason: string };
  /** The process of a plugin has ended without being asked to; `failures` in a row. */
  "plugin.ended": { readonly plugin: string; readonly reason: string; readonly failures: number };
  /** A change that the operator asked for, before it is made; `outcome` is `asked`. */
  "operation.requested": OperationOutcome;
  /** Outcome of an operator's change: `done`, or the error's code. */
  "operation.ended": OperationOutcome;
  /**
   * Somebody follows events over HTTP, from which number on, of which type and group; `deltas`: also what turns do
   * meanwhile.
   */
  "watch.opened": {
    readonly after?: number | undefined;
    readonly type?: string | undefined;
    readonly group?: string | undefined;
    readonly deltas: boolean;
  };
  /** `left`, `slow`: took nothing for too long, `stopping`: the host stops, `failed`: the store could not be read. */
  "watch.ended": { readonly reason: "left" | "slow" | "stopping" | "failed" };
  "http.refused": {
    readonly status: number;
    readonly method: string;
    readonly route: string;
    readonly address: string;
    readonly untold: number;
  };
}
