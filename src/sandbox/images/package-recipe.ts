import { createHash } from "node:crypto";

import { type PackageLists, type PackageManager, sortPackages } from "../../domain/sandbox/packages.ts";
import type { Mirrors } from "./mirrors.ts";

/** Images of packages have this name; the tag says which, or who uses it. */
export const packagesRepository = "crabpot-agent-packages";

/** Labels by which such an image says what it is. */
export const packageLabels = {
  /** The whole hash over the agent image and the lists. */
  hash: "crabpot.packages",
  /** The id of the agent image below. */
  base: "crabpot.packages.base",
  /** The lists, as JSON. */
  lists: "crabpot.packages.lists",
} as const;

/** Name of an agent image with packages, shared by all groups that want the same. */
export interface PackageImageName {
  readonly hash: string;
  readonly tag: string;
  readonly base: string;
  readonly lists: PackageLists;
}

/** Names the image with these packages on that agent image: the same for all groups that ask for the same. */
export function nameOfPackages(base: string, wanted: PackageLists): PackageImageName {
  const lists = sortPackages(wanted);
  const hash = createHash("sha256")
    .update(JSON.stringify([base, lists]))
    .digest("hex");
  return { hash, tag: `${packagesRepository}:${hash.slice(0, 16)}`, base, lists };
}

/** The name by which an image is known to be used by a group of that home, wherever it was made. */
export function tagOfUser(instance: string, group: string): string {
  return `${packagesRepository}:used-${instance.slice(0, 8)}-${group}`;
}

/** File with certificates while packages are installed. */
export const certificatesName = "certificates.pem";
const buildFolder = "/tmp/crabpot-build";

/** These ask for a name that is there: apt would take one that is not for a pattern, and install whatever fits. */
const installDebian = `apt-get update
for wanted do
  name="\${wanted%%=*}"
  apt-cache pkgnames -- "$name" | grep -Fxq -e "$name" || { echo "E: Unable to locate package $name"; exit 100; }
done
apt-get install --yes --no-install-recommends -- "$@"
apt-get clean
rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/log/*`;

const installPython = `pip3 install --no-cache-dir --no-input --root-user-action=ignore --disable-pip-version-check -- "$@"`;

/** Installs Node packages globally, found from any folder by import and require. */
const installNode = `npm install --global --no-audit --no-fund --no-update-notifier --loglevel=error -- "$@"
ln -sfn /usr/local/lib/node_modules /node_modules
rm -rf /root/.npm`;

const scripts: { readonly [Manager in PackageManager]: string } = {
  apt: installDebian,
  pip: installPython,
  npm: installNode,
};

/** Removes build files and setuid bits; the check of the result finds any others. */
const tidy = `rm -rf ${buildFolder} /tmp/node-compile-cache /root/.cache
find / -xdev '(' -type f -o -type d ')' -perm /6000 -exec chmod ug-s '{}' +
find / -xdev -type f -exec python3 -c 'import os, sys; [os.removexattr(p, "security.capability") for p in sys.argv[1:] if "security.capability" in os.listxattr(p)]' '{}' +`;

/**
 * The Dockerfile of such an image. Each step is a list of words that no shell reads: the script is always the same, and
 * the names, which are valid ones, are its arguments.
 */
export function packageDockerfile({ base, lists }: PackageImageName, mirrors: Mirrors): string {
  const steps = (["apt", "pip", "npm"] as const).flatMap((manager) =>
    lists[manager].length > 0 ? [runStep(scripts[manager], lists[manager])] : [],
  );
  return [
    `FROM ${base}`,
    "USER 0:0",
    // Those of proxies are known to every build, and are not kept.
    ...Object.keys(mirrors.variables).flatMap((name) => (/_proxy$/i.test(name) ? [] : [`ARG ${name}`])),
    "ARG DEBIAN_FRONTEND=noninteractive",
    ...certificateSteps(mirrors),
    ...steps,
    runStep(tidy, []),
    "USER 65534:65534",
    "",
  ].join("\n");
}

/** Trusts the operator's certificates for packages during the build. None of it stays in the image. */
function certificateSteps({ certificates }: Mirrors): string[] {
  if (certificates === "") return [];
  const bundle = `${buildFolder}/bundle.pem`;
  const names = ["PIP_CERT", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"];
  return [
    `COPY ${certificatesName} ${buildFolder}/${certificatesName}`,
    runStep(`cat /etc/ssl/certs/ca-certificates.crt ${buildFolder}/${certificatesName} > ${bundle}`, []),
    ...names.map((name) => `ARG ${name}=${bundle}`),
  ];
}

function runStep(script: string, names: readonly string[]): string {
  return `RUN ${JSON.stringify(["sh", "-euc", script, "packages", ...names])}`;
}
