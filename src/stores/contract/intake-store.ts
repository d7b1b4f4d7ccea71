/**
 * Account of a day's intake: a group by name, a member on a channel, or groups registered automatically on a channel.
 */
export interface IntakeAccount {
  readonly kind: "group" | "member" | "auto-register";
  /** Names the account among those of its kind. */
  readonly name: string;
}

/** Amount taken in; bytes as stored. */
export interface IntakeAmount {
  readonly messages: number;
  readonly bytes: number;
  readonly attachmentBytes: number;
}

/** An amount that each of these accounts is charged with. */
export interface IntakeCharge {
  /** UTC, such as `2026-01-15`. */
  readonly day: string;
  readonly accounts: readonly IntakeAccount[];
  readonly amount: IntakeAmount;
}

/** Intake per day (UTC). A message is charged in the transaction that stores it: see `MessageStore.insert`. */
export interface IntakeStore {
  ofDay(day: string, account: IntakeAccount): Promise<IntakeAmount>;
  charge(charge: IntakeCharge): Promise<void>;
  /** Notes that people were told that the account has reached its limit. False when they had been told on that day. */
  tell(day: string, account: IntakeAccount, about: "messages" | "files"): Promise<boolean>;
}
