import type { ErasureView } from "../domain/erasure.ts";

/** What operators can do about somebody's words. */
export interface ErasureOperations {
  /** What there is of somebody (`channel:id`), all of their ids included. Rejects with `not_found` for nobody. */
  lookAtPerson(id: string): Promise<ErasureView>;
  /** Erases what they said and what was made of it. Rejects with `conflict` while a turn of theirs has not ended. */
  erasePerson(id: string): Promise<ErasureView>;
}
