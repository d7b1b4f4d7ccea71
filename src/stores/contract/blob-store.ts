/** A content that steps refer to. Its bytes are a file in the home; see `BlobFolder`. */
export interface KnownBlob {
  readonly sha256: string;
  readonly bytes: number;
  readonly mimeType: string;
  /** When the first step referred to it, milliseconds since 1970. */
  readonly createdAt: number;
  /** Number of references. */
  readonly references: number;
}

/** References from steps to contents, added and removed in the same transactions as the steps. */
export interface BlobStore {
  /** Those of these contents that are known, in no order. One that is not may be removed. */
  known(sha256s: readonly string[]): Promise<KnownBlob[]>;
  /** Bytes of all contents that steps of this group refer to, each counted once. */
  bytesOf(group: string): Promise<number>;
  /** Captions by SHA-256; with `upTo`, those kept by then (see `lastCaption`). */
  captionsOf(sha256s: readonly string[], upTo?: number): Promise<ReadonlyMap<string, string>>;
  /** Keeps what a picture shows, unless it is known. Returns what is known then. */
  keepCaption(caption: { readonly sha256: string; readonly caption: string; readonly at: number }): Promise<string>;
  /** The number of the newest caption; 0: there was never one. */
  lastCaption(): Promise<number>;
  /**
   * Forgets those to which no step refers and which are from before then, at most `limit`, and captions of such that
   * are a month older. Returns how many blobs.
   */
  forget(before: number, limit: number): Promise<number>;
}
