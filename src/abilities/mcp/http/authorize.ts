import type { AuthOptions, AuthResult, OAuthClientProvider } from "@modelcontextprotocol/client";

/**
 * Gets tokens, or sends a person to log in. The issuer must name itself as it was found, or one server could pass off
 * its logins as another's. In the first edition of the protocol, still in use, the server is the issuer, with any name
 * within its origin.
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

/** True when the server issues tokens itself, under an unexpected path of its origin. */
export async function isOwnIssuer(error: unknown, serverUrl: string | URL): Promise<boolean> {
  const { IssuerMismatchError } = await import("@modelcontextprotocol/client");
  if (!(error instanceof IssuerMismatchError) || error.kind !== "metadata") return false;
  const { origin } = new URL(serverUrl);
  return [error.expected, error.received].every((issuer) => URL.parse(String(issuer))?.origin === origin);
}
