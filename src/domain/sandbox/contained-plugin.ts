/** A plugin as its container is made: one for all groups, of which it sees nothing. */
export interface ContainedPlugin {
  readonly kind: "plugin";
  /** Its name in the home. */
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  /** Megabytes that its container may hold. */
  readonly memoryMb: number;
}

/** Places in which plugins run. `process`: beside the host, as its user; for who writes one. */
export const pluginIsolations = ["container", "process"] as const;

export type PluginIsolation = (typeof pluginIsolations)[number];
