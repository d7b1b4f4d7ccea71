/** Stands for a text that is not stored: whoever has the text and the home's salt can prove that it is this one. */
export interface Fingerprint {
  readonly sha256: string;
  readonly chars: number;
}
