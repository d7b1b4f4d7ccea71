import type { Destination } from "../../sandbox/egress.ts";
import type { ExecutionPointChange, SetIdFile } from "../../sandbox/mount.ts";
import type { PackageLists } from "../../sandbox/packages.ts";

type ContainerLife = {
  readonly name: string;
  readonly container: string;
  readonly generation: number;
};

/** Events about containers, their folders and their egress. */
export interface ContainerEventData {
  "egress.judged": {
    readonly verdict: "allowed" | "refused" | "failed" | "masked" | "barred" | "closed";
    readonly rule: string;
    readonly destination?: Destination | undefined;
    readonly address?: string | undefined;
    readonly bytesUp?: number | undefined;
    readonly bytesDown?: number | undefined;
    readonly ms?: number | undefined;
    /** The MCP server whose container asked. */
    readonly server?: string | undefined;
    /** The plugin whose container asked. */
    readonly plugin?: string | undefined;
  };
  /** The reason of a refused mount may name another group. */
  "mounts.judged": {
    readonly group: string;
    readonly session: string;
    readonly mounts: readonly {
      readonly source: string;
      readonly target: string;
      readonly verdict: string;
      readonly reason: string | undefined;
      readonly secrets?: readonly unknown[] | undefined;
    }[];
  };
  "mount.refused": { readonly refused: string };
  "secrets.appeared": {
    readonly secrets: readonly { readonly target: string; readonly path: string }[];
    readonly count: number;
  };
  "setuid.removed": { readonly files: readonly SetIdFile[]; readonly count: number };
  "execution-point.changed": {
    readonly target: string;
    readonly path: string;
    readonly kind: string;
    readonly change: ExecutionPointChange["change"];
  };
  /** After all that one look has found: how many there were, and the first few. */
  "execution-points.counted": {
    readonly count: number;
    readonly omitted: number;
    readonly first: readonly ExecutionPointChange[];
  };
  "image.building": { readonly image: string; readonly packages: PackageLists };
  "image.built": {
    readonly image: string;
    readonly packages: PackageLists;
    readonly id: string;
    readonly elapsedMs: number;
  };
  /** `again`: for the reason that was told before. */
  "image.failed": {
    readonly image: string;
    readonly packages: PackageLists;
    readonly groups: readonly string[];
    readonly reason: string;
    readonly again: boolean;
  };
  "image.removed": { readonly image: string };
  "container.created": {
    readonly name: string;
    readonly spec: string;
    readonly body: string;
    readonly image: string;
    readonly uid: number;
    /** The MCP server that it is for. */
    readonly server?: string | undefined;
    /** The plugin that it is for. */
    readonly plugin?: string | undefined;
    readonly mounts: readonly { readonly realPath: string; readonly target: string; readonly verdict: string }[];
  };
  "container.started": { readonly name: string; readonly container: string };
  "container.attested": ContainerLife & { readonly elapsedMs: number };
  "container.adopted": ContainerLife;
  "container.frozen": { readonly name: string };
  "container.thawed": { readonly name: string; readonly elapsedMs: number };
  "container.refused": { readonly reason: string };
  "container.stopped": ContainerLife & { readonly reason: string };
  /** One that nobody used anymore. */
  "container.removed": { readonly name: string; readonly reason: string };
  /** A full log of a session was closed. */
  "container-output.closed": { readonly file: string; readonly bytes: number; readonly sha256: string };
  /** The oldest closed log was removed: the group's logs were too large. */
  "container-output.pruned": { readonly file: string; readonly bytes: number };
}
