/** Faults of the server, until changed. */
export interface Faults {
  /** `refuse`: 503 to the WebSocket upgrade; `hang`: TCP, and then nothing; `mute`: a WebSocket, and then nothing. */
  upgrade: "accept" | "refuse" | "hang" | "mute";
  /** Every login is refused for this reason: 401, 403, 405, 503, … */
  loginFailure: number | null;
  /** Open connections stay open and nothing is sent over them. */
  silent: boolean;
  /**
   * Fate of clients' messages: `lost`: the line is cut and nobody gets them; `cut`: members get them and the line is
   * cut before the acknowledgement; `withhold`: members get them without acknowledgement; a number: refused with this
   * code.
   */
  message: "lost" | "cut" | "withhold" | number | null;
  /** The server does not say which LID a phone number has: it refuses, or stays silent. */
  lidLookUp: "answer" | "refuse" | "mute";
  /** Number of messages that meet the fault. */
  messageCount: number;
}

/** A server without faults. */
export function noFaults(): Faults {
  return { upgrade: "accept", loginFailure: null, silent: false, message: null, lidLookUp: "answer", messageCount: 0 };
}

/** Fault for a client's next message. */
export function takeMessageFault(faults: Faults): Faults["message"] {
  if (faults.messageCount <= 0) return null;
  faults.messageCount -= 1;
  return faults.message;
}
