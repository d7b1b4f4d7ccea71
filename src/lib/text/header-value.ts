/** Can this text be the value of an HTTP header, as tokens and keys are? */
export function isHeaderValue(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}

/** Fault of a secret that is no valid header value. */
export const notHeaderValue = "holds white space or characters outside ASCII; was something copied along with it?";
