import { foldName } from "../lib/files/paths.ts";

/**
 * Files and folders that usually hold secrets, wherever they lie: one name, or names in a row. `*` stands for any
 * characters of a name, `{a,b}` for one of several texts. Case does not count.
 */
export const secretNames: readonly string[] = [
  // Environments of programs.
  ".env*",
  "*.env",
  "local.settings.json",
  // Keys and stores of keys.
  "*.{key,pem,p8,pk8,p12,pfx,ppk,jks,keystore,kdb,kdbx,agekey,keyring,ovpn}",
  "id_{rsa,dsa,ecdsa,ed25519,ecdsa_sk,ed25519_sk}",
  "wg{0,1,2}.conf",
  ".ssh",
  ".gnupg",
  "secring.gpg",
  ".password-store",
  // Credentials by their name.
  "credentials",
  "credentials.{json,yml,yaml,toml,ini,csv,xml,txt,db,conf,cfg,plist,properties,tfrc.json,yml.enc}",
  "credentials[-_.]*.{json,yml,yaml,toml,ini,csv,xml,txt,db,conf,cfg,properties}",
  "*[-_.]credentials",
  "*[-_.]credentials.{json,yml,yaml,toml,ini,csv,xml,txt,conf,cfg,properties}",
  "secret{,s}.{json,yml,yaml,toml,ini,txt,env}",
  "secret{,s}[-_.]*.{json,yml,yaml,toml,ini}",
  "client_secret*.json",
  "service{-,_,}account*.json",
  "*firebase-adminsdk*.json",
  "gha-creds-*.json",
  "token.json",
  "*.token",
  "*.{tfstate,tfvars}",
  // Log-ins of programs.
  ".{netrc,npmrc,pypirc,pgpass,htpasswd,s3cfg,boto,my.cnf,mylogin.cnf,vault-token,dockercfg,dockerconfigjson}",
  "_netrc",
  ".vault_pass*",
  ".git-credentials",
  "auth.json",
  "rclone.conf",
  "gh/hosts.yml",
  ".docker/config.json",
  ".m2/settings.xml",
  ".gem/credentials",
  ".config/gcloud",
  ".{aws,azure,kube}",
  "kubeconfig",
  "*.kubeconfig",
  ".*_history",
];

/** Samples that are meant to be read by everybody, and public halves of keys. */
const publicNames = [
  /(?:^|[-_.])(?:example|sample|template|tmpl)(?:$|[-_.~])/,
  /[-_.](?:dist|defaults|schema|md|mdx|rst|adoc|pub)$/,
  /^(?:\.environment|cacert\.pem)$/,
];

/** Copies that editors and people leave beside a file. */
const copySuffix = String.raw`(~|\.(bak|backup|old|orig|save|sw[a-p]|tmp))*`;

/** Maximum names in a row of a pattern. */
const mostInRow = 2;

/** A POSIX extended expression, and one of JavaScript's. */
function expressionOf(pattern: string): string {
  return pattern
    .replaceAll(".", String.raw`\.`)
    .replaceAll(/\[([^[\]]*)\]/g, (_, set: string) => `[${set.replaceAll("\\", "").replace(/^-(.*)$/, "$1-")}]`)
    .replaceAll("*", "[^/]*")
    .replaceAll(/\{([^{}]*)\}/g, (_, texts: string) => `(${texts.replaceAll(",", "|")})`);
}

const anySecretName = `\\.?(${secretNames.map(expressionOf).join("|")})${copySuffix}`;

/**
 * For `find -regextype posix-extended -iregex`: matches at least the paths that `isSecretPath` finds with their last
 * name, but for those with letters outside ASCII.
 */
export const secretPathExpression = `.*/${anySecretName}`;

const ending = new RegExp(`(?:^|/)${anySecretName}$`);

/**
 * Returns the shortest beginning of a path that is a secret: a file, or a folder whose whole content is. Undefined when
 * nothing in it is known to be one. Names are compared as wholes, as any file system may take them for the same.
 */
export function secretIn(path: string): string | undefined {
  const names = path.split("/");
  const folded = names.map(foldName);
  for (const [index, name] of folded.entries()) {
    const tail = folded.slice(Math.max(0, index + 1 - mostInRow), index + 1).join("/");
    if (ending.test(tail) && !publicNames.some((pattern) => pattern.test(name)))
      return names.slice(0, index + 1).join("/");
  }
  return undefined;
}

export function isSecretPath(path: string): boolean {
  return secretIn(path) !== undefined;
}
