/** An erasure that was begun. Who it was about cannot be told from it. */
export interface ErasureTable {
  readonly digest: string;
  readonly begun_at: number;
  readonly ended_at: number | null;
}

/* Erasures, so that one that was cut off is not taken for done. */
export const erasures = [
  `create table erasures (
     digest text primary key,
     begun_at integer not null,
     ended_at integer
   ) strict, without rowid`,
];
