import type { FetchedPage } from "../../../domain/settings/web.ts";

/** The web, as the group of a call may use it now. */
export interface WebPort {
  /** Fetches a page. Throws ToolError with why there is none. Absent where the group may fetch none. */
  readonly fetch?: ((url: string) => Promise<FetchedPage>) | undefined;
  /**
   * Searches, and answers in words for the model, or with a page that the agent has to read. Throws ToolError with why
   * there is neither. Absent where the group cannot search.
   */
  readonly search?: ((query: string, count: number) => Promise<string | FetchedPage>) | undefined;
}
