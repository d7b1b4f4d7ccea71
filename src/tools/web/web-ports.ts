import type { FetchedPage } from "../../domain/settings/web.ts";

/** Pages of the web, as the group may fetch them. */
export interface PagePort {
  /** Throws ToolError with why there is none. */
  fetch(url: string): Promise<FetchedPage>;
}

/** Who searches for the group, and what was found. */
export interface SearchPort {
  /** In words for the model, or a page that the agent has to read. Throws ToolError with why there is neither. */
  search(query: string, count: number): Promise<string | FetchedPage>;
}
