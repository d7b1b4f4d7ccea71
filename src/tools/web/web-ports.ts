import type { FetchedPage } from "../../domain/settings/web.ts";

/** Pages of the web, as the group may fetch them. */
export interface PagePort {
  /** Throws ToolError with why there is none. */
  fetch(url: string): Promise<FetchedPage>;
}

/** Web search for the group, and its results. */
export interface SearchPort {
  /** In words for the model, or a page that the agent has to read. Throws ToolError with why there is neither. */
  search(query: string, count: number): Promise<string | FetchedPage>;
}
