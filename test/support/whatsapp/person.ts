import type { BinaryNode } from "@whiskeysockets/baileys";

import type { Connection } from "./connection.ts";
import { Device } from "./device.ts";
import type { Addressing } from "./stanza.ts";

/** A device that is linked to somebody's account: a client that connects to the server. */
export interface Companion {
  readonly person: Person;
  readonly device: number;
  readonly noiseKey: Buffer;
  readonly identity: Buffer;
  registration: Buffer;
  signedPreKey: BinaryNode | undefined;
  readonly preKeys: BinaryNode[];
  /** Unacknowledged stanzas by class and id, sent again after the next login. */
  readonly pending: Map<string, BinaryNode>;
  connection: Connection | undefined;
  /** The phone has sent it what was said before it was linked. */
  hasHistory: boolean;
}

/** Identity of a person on the platform. Phone number and LID without suffix. */
export interface PersonFacts {
  readonly name: string;
  readonly pn: string;
  readonly lid: string;
}

/** An account: a phone, which the server plays itself, and the companions that are linked to it. */
export class Person implements Disposable {
  readonly name: string;
  readonly pn: string;
  readonly lid: string;
  readonly phone: Device;
  readonly companions = new Map<number, Companion>();
  /** Devices that have the phone's sender key of a group: `group companion-jid`. */
  readonly sharedKeys = new Set<string>();
  #nextDevice = 1;

  constructor({ name, pn, lid }: PersonFacts) {
    this.name = name;
    this.pn = pn;
    this.lid = lid;
    this.phone = new Device(this.jid("pn"), this.jid("lid"));
  }

  jid(addressing: Addressing, device = 0): string {
    const suffix = device === 0 ? "" : `:${device}`;
    return addressing === "lid" ? `${this.lid}${suffix}@lid` : `${this.pn}${suffix}@s.whatsapp.net`;
  }

  takeDeviceNumber(): number {
    const device = this.#nextDevice;
    this.#nextDevice += 1;
    return device;
  }

  [Symbol.dispose](): void {
    this.phone[Symbol.dispose]();
  }
}
