import type { Lineage } from "../../../domain/rights/lineage.ts";
import { parseOrigins, parseTexts } from "./json-columns.ts";
import type { Row } from "./tables.ts";

/** Columns of a lineage, which are called the same in all tables; lists are JSON. */
export type LineageColumns = Pick<Row<"work">, "role" | "origins" | "people" | "narrowed">;

/** Returns the columns of this lineage. */
export function toLineageColumns({ role, origins, people, narrowed }: Lineage): LineageColumns {
  return {
    role,
    origins: JSON.stringify(origins),
    people: JSON.stringify(people),
    narrowed: JSON.stringify(narrowed),
  };
}

/** Returns the lineage of a row. */
export function toLineage({ role, origins, people, narrowed }: LineageColumns): Lineage {
  return { role, origins: parseOrigins(origins), people: parseTexts(people), narrowed: parseTexts(narrowed) };
}
