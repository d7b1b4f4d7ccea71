/**
 * Names of files that usually hold secrets, in lower case. They are shown to the operator, not refused: most projects
 * have one.
 */
const secretNames =
  /^(\.env(\..+)?|\.envrc|\.htpasswd|\.vault_pass|id_(rsa|dsa|ecdsa|ed25519)|credentials(\.json|\.ya?ml)?|secrets?\.(json|ya?ml|toml)|service[-_]account.*\.json|.+\.(pem|key|p12|pfx|jks|keystore|kdbx|ppk|ovpn))$/;

/** Templates that are meant to be read by everybody. */
const templates = /\.(example|sample|template|dist|md)$/;

export function looksLikeSecret(name: string): boolean {
  const lower = name.toLowerCase();
  return secretNames.test(lower) && !templates.test(lower);
}
