/**
 * Takes secrets out of texts, also in the form that JSON or a URL gives them. It forgets none: what was a secret may
 * still be in use somewhere.
 */
export class Redaction {
  #forms: readonly string[] = [];

  constructor(secrets: readonly string[] = []) {
    this.add(secrets);
  }

  /** Very short ones are left: they would mangle every line. */
  add(secrets: readonly string[]): void {
    const forms = secrets
      .filter((secret) => secret.length >= 4)
      .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]);
    this.#forms = [...new Set([...this.#forms, ...forms])].toSorted((one, other) => other.length - one.length);
  }

  readonly redact = (text: string): string =>
    this.#forms.reduce((line, form) => line.replaceAll(form, "[redacted]"), text);
}
