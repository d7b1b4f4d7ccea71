import type { AuthOptions, AuthResult, OAuthClientProvider } from "@modelcontextprotocol/client";

/**
 * Gets tokens, or sends somebody to log in. Who gives tokens must call itself as it was found, or one server could pass
 * its logins off as another's; by the first edition of the protocol, which servers still speak, it is the server itself
 * and calls itself as it likes within its own origin.
 */
export async function authorize(provider: OAuthClientProvider, options: AuthOptions): Promise<AuthResult> {
  const { auth } = await import("@modelcontextprotocol/client");
  try {
    return await auth(provider, options);
  } catch (error) {
    if (!(await isOwnIssuer(error, options.serverUrl))) throw error;
    return auth(provider, { ...options, skipIssuerMetadataValidation: true });
  }
}

/** Does the server give tokens itself, under another path of its origin than was thought? */
export async function isOwnIssuer(error: unknown, serverUrl: string | URL): Promise<boolean> {
  const { IssuerMismatchError } = await import("@modelcontextprotocol/client");
  if (!(error instanceof IssuerMismatchError) || error.kind !== "metadata") return false;
  const { origin } = new URL(serverUrl);
  return [error.expected, error.received].every((issuer) => URL.parse(String(issuer))?.origin === origin);
}
