/** Basis and progress of a verification. */
export interface Grounds {
  readonly ok: boolean;
  readonly records: number;
  /** `seq` of the last record that a good checkpoint signs. */
  readonly covered: number;
  readonly unsigned: number;
  readonly store: boolean;
  readonly anchor: boolean;
  readonly key: boolean;
}

/** The result in words for people: what it proves, and, as important, what it does not. */
export function statements(grounds: Grounds): { proves: string[]; doesNotProve: string[] } {
  return { proves: proves(grounds), doesNotProve: doesNotProve(grounds) };
}

function proves({ ok, records, covered, store, anchor, key }: Grounds): string[] {
  return [
    ...kept(
      records > 0,
      `Records 1 to ${records} stand in the order in which they were written; each continues the one before.`,
    ),
    ...kept(ok && key && covered > 0, `Up to record ${covered} they are what the home's key signed.`),
    ...kept(ok && store, "The store remembers the same log: neither of the two was cut or put back alone."),
    ...kept(ok && anchor, "The log contains the record that was noted outside of this machine."),
  ];
}

function doesNotProve({ unsigned, store, anchor, key }: Grounds): string[] {
  return [
    ...kept(!key, "No public key was given: who signed the checkpoints was not checked."),
    ...kept(unsigned > 0, `The last ${unsigned} records are not signed yet.`),
    ...kept(!store, "The store was not asked: a log that was cut together with its checkpoints would look the same."),
    ...kept(
      !anchor,
      "Somebody who controls the machine, its key and its store could have written all of it anew: only a record noted elsewhere (an anchor) excludes that.",
    ),
    "That the host recorded everything, and that what it recorded is true: the log shows what the host said at the time.",
  ];
}

function kept(condition: boolean, sentence: string): string[] {
  return condition ? [sentence] : [];
}
