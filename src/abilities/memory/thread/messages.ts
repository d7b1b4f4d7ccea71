import type { ErrorCode } from "../../../lib/app-error.ts";
import type { SlowVectors } from "../index/vectors/open-vectors.ts";
import type { MemoryOrders } from "./orders.ts";

/** What the thread is told: what is to be done with which file. */
export interface Order {
  readonly id: number;
  readonly path: string;
  readonly name: keyof MemoryOrders;
  readonly parameters: readonly unknown[];
}

/** What it says of itself, whatever it was told. */
export interface Notice {
  readonly slow: SlowVectors;
}

/** What it answers. */
export type Answer =
  | { readonly id: number; readonly result: unknown }
  | {
      readonly id: number;
      readonly error: {
        readonly code: ErrorCode;
        readonly message: string;
        readonly fix?: string | undefined;
        readonly passing: boolean;
      };
    };
