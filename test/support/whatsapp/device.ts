import {
  addTransactionCapability,
  Curve,
  DEFAULT_CONNECTION_CONFIG,
  encodeBigEndian,
  generateSignalPubKey,
  getBinaryNodeChild,
  getBinaryNodeChildUInt,
  initAuthCreds,
  KEY_BUNDLE_TYPE,
  proto,
  unpadRandomMax16,
  writeRandomPadMax16,
  xmppPreKey,
  xmppSignedPreKey,
} from "@whiskeysockets/baileys";
import type {
  AuthenticationCreds,
  BinaryNode,
  SignalDataSet,
  SignalDataTypeMap,
  SignalKeyStore,
  SignalRepositoryWithLIDStore,
} from "@whiskeysockets/baileys";
import { pino } from "pino";

import { attribute, bytesOf, stanza } from "./stanza.ts";

const silent = pino({ level: "silent" });

/** Signal keys in memory. */
export class MemoryKeys implements SignalKeyStore {
  readonly #values = new Map<string, unknown>();

  get<T extends keyof SignalDataTypeMap>(type: T, ids: string[]): Record<string, SignalDataTypeMap[T]> {
    const found: Record<string, SignalDataTypeMap[T]> = {};
    for (const id of ids) {
      const value = this.#values.get(`${type}/${id}`);
      if (value !== undefined) found[id] = value as SignalDataTypeMap[T];
    }
    return found;
  }

  set(data: SignalDataSet): void {
    for (const [type, entries] of Object.entries(data)) {
      for (const [id, value] of Object.entries(entries)) {
        if (value === null) this.#values.delete(`${type}/${id}`);
        else this.#values.set(`${type}/${id}`, value);
      }
    }
  }
}

/** An encrypted group message and the key that its readers need, for those who do not have it. */
export interface GroupCiphertext {
  readonly enc: BinaryNode;
  readonly keyDistribution: proto.Message.ISenderKeyDistributionMessage;
}

/** A phone in the Signal protocol: identity, pre-keys, sessions and sender keys. */
export class Device implements Disposable {
  readonly credentials: AuthenticationCreds;
  readonly #keys = new MemoryKeys();
  readonly #signal: SignalRepositoryWithLIDStore;
  readonly #lid: string;
  #nextPreKey = 1;

  constructor(pn: string, lid: string) {
    this.#lid = lid;
    this.credentials = { ...initAuthCreds(), me: { id: pn, lid } };
    const keys = addTransactionCapability(this.#keys, silent, { maxCommitRetries: 3, delayBetweenTriesMs: 50 });
    this.#signal = DEFAULT_CONNECTION_CONFIG.makeSignalRepository(
      { creds: this.credentials, keys },
      silent,
      async () => [],
    );
  }

  get identity(): AuthenticationCreds["signedIdentityKey"] {
    return this.credentials.signedIdentityKey;
  }

  /** The parts of a key bundle as the server hands them out; the pre-key in it is a new one. */
  bundle(): BinaryNode[] {
    const id = this.#nextPreKey;
    this.#nextPreKey += 1;
    const pair = Curve.generateKeyPair();
    this.#keys.set({ "pre-key": { [id]: pair } });
    return [
      stanza("registration", {}, encodeBigEndian(this.credentials.registrationId)),
      stanza("type", {}, KEY_BUNDLE_TYPE),
      stanza("identity", {}, this.identity.public),
      xmppSignedPreKey(this.credentials.signedPreKey),
      xmppPreKey(pair, id),
    ];
  }

  async hasSession(jid: string): Promise<boolean> {
    return (await this.#signal.validateSession(jid)).exists;
  }

  /** Starts a session (anew) with the keys of a bundle. */
  async startSession(jid: string, bundle: BinaryNode): Promise<void> {
    const signed = getBinaryNodeChild(bundle, "skey");
    const preKey = getBinaryNodeChild(bundle, "key");
    if (!signed) throw new Error(`the bundle of ${jid} has no signed key`);
    await this.#signal.injectE2ESession({
      jid,
      session: {
        registrationId: getBinaryNodeChildUInt(bundle, "registration", 4) ?? 0,
        identityKey: generateSignalPubKey(bytesOf(bundle, "identity")),
        signedPreKey: { ...publicKeyOf(signed), signature: bytesOf(signed, "signature") },
        ...(preKey ? { preKey: publicKeyOf(preKey) } : {}),
      },
    });
  }

  /** Encrypts an encoded message for one device, with which there is a session. */
  async encryptFor(jid: string, encoded: Uint8Array): Promise<BinaryNode> {
    const { type, ciphertext } = await this.#signal.encryptMessage({ jid, data: writeRandomPadMax16(encoded) });
    return stanza("enc", { v: "2", type }, ciphertext);
  }

  async encryptForGroup(group: string, encoded: Uint8Array): Promise<GroupCiphertext> {
    const data = writeRandomPadMax16(encoded);
    const sealed = await this.#signal.encryptGroupMessage({ group, meId: this.#lid, data });
    return {
      enc: stanza("enc", { v: "2", type: "skmsg" }, sealed.ciphertext),
      keyDistribution: { groupId: group, axolotlSenderKeyDistributionMessage: sealed.senderKeyDistributionMessage },
    };
  }

  /** Opens one `enc` and keeps the sender key that may be in it. */
  async decrypt(enc: BinaryNode, from: { author: string; group: string }): Promise<proto.IMessage> {
    const type = attribute(enc, "type");
    const ciphertext = Buffer.from(enc.content as Uint8Array);
    const padded =
      type === "skmsg"
        ? await this.#signal.decryptGroupMessage({ group: from.group, authorJid: from.author, msg: ciphertext })
        : await this.#signal.decryptMessage({ jid: from.author, type: type === "msg" ? "msg" : "pkmsg", ciphertext });
    const outer = proto.Message.decode(unpadRandomMax16(padded));
    const message = outer.deviceSentMessage?.message ?? outer;
    const item = message.senderKeyDistributionMessage;
    if (item) await this.#signal.processSenderKeyDistributionMessage({ authorJid: from.author, item });
    return message;
  }

  [Symbol.dispose](): void {
    this.#signal.close?.();
  }
}

function publicKeyOf(node: BinaryNode): { keyId: number; publicKey: Uint8Array } {
  return {
    keyId: getBinaryNodeChildUInt(node, "id", 3) ?? 0,
    publicKey: generateSignalPubKey(bytesOf(node, "value")),
  };
}
