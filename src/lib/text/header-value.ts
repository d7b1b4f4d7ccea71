/** Can this text be the value of an HTTP header, as tokens and keys are? */
export function isHeaderValue(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}

/** What to say of a secret that cannot. */
export const notHeaderValue = "holds white space or characters outside ASCII; was something copied along with it?";
