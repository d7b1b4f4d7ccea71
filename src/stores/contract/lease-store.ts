import type { Lease } from "../../domain/turns/lease.ts";

/** Leases of sessions. Turn writes with a lease are refused (AppError `fenced`) once another one was given. */
export interface LeaseStore {
  /** The lease, new or renewed, until `now + ttlMs`; undefined while another owner's is good. */
  claim(
    session: string,
    holder: { readonly owner: string; readonly now: number; readonly ttlMs: number },
  ): Promise<Lease | undefined>;
  /** Ends it now, so that others need not wait. No effect on another owner's lease. */
  release(lease: Lease): Promise<void>;
  /** Ends all leases. For a host that knows that it is alone: it holds the home's lock, so the owners are dead. */
  endAll(): Promise<void>;
}
