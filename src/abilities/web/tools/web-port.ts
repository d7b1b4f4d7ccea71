import type { Sourced } from "../../../domain/rights/sourced.ts";
import type { FetchedPage } from "../../../domain/settings/web.ts";

/** The web, as the group of a call may use it now. */
export interface WebPort {
  /** Fetches a page. Throws ToolError on failure. Absent when the group may fetch none. */
  readonly fetch?: ((url: string) => Promise<FetchedPage>) | undefined;
  /**
   * Searches; returns words for the model, or a page for the agent's reader. Throws ToolError on failure. Absent when
   * the group cannot search.
   */
  readonly search?: ((query: string, count: number) => Promise<Sourced | FetchedPage>) | undefined;
}
