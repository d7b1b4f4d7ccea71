import type { Memory } from "../../processes/memory-schemas.ts";

/** A memory as programs get it in a list. */
export function toListed({ id, category, text, time: at, sender, origin, supersededBy }: Memory): object {
  const shown = { id, category, text, time: new Date(at).toISOString(), sender, origin };
  return supersededBy === undefined ? shown : { ...shown, supersededBy };
}

/** All of it, as programs get a single one, and as it is exported and imported. */
export function toExported(memory: Memory): object {
  const { sources, photo } = memory;
  return { ...toListed(memory), sources, ...(photo !== undefined && { photo }) };
}
