import { BlockList, isIP } from "node:net";
import { networkInterfaces } from "node:os";

/**
 * Networks that are not the public internet: IANA's registries of special-purpose addresses, and multicast. Those for
 * documentation are left out: nothing is there, unless somebody has put a server of theirs there to be reached.
 */
const ipv4: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.31.196.0", 24],
  ["192.52.193.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["192.175.48.0", 24],
  ["198.18.0.0", 15],
  // Azure's host agent answers at an address that looks public.
  ["168.63.129.16", 32],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];

/** Inside 2000::/3, which alone is handed out; the rest of IPv6 (mapped, local, multicast …) is never public. */
const ipv6: readonly (readonly [string, number])[] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  // Tunnels that carry an IPv4 address, which may be any.
  ["2002::", 16],
  ["2620:4f:8000::", 48],
  ["3fff::", 20],
];

/**
 * A function that tells whether an address, as a resolver writes it, is one of the public internet. All that leads to
 * this machine, its networks or a cloud's metadata is not, and neither is what cannot be read. `attached` gives the
 * networks of this machine's interfaces: with IPv6, the neighbours at home have addresses like anybody's.
 */
export function publicAddressCheck(attached: () => readonly string[] = attachedNetworks): (address: string) => boolean {
  const special = new BlockList();
  for (const [network, bits] of ipv4) special.addSubnet(network, bits, "ipv4");
  const global = new BlockList();
  global.addSubnet("2000::", 3, "ipv6");
  const specialV6 = new BlockList();
  for (const [network, bits] of ipv6) specialV6.addSubnet(network, bits, "ipv6");
  return (address) => {
    const family = isIP(address);
    // A zone (`fe80::1%eth0`) belongs to an interface of this machine.
    if (family === 0 || address.includes("%") || isWithin(attached(), address)) return false;
    if (family === 4) return !special.check(address, "ipv4");
    return global.check(address, "ipv6") && !specialV6.check(address, "ipv6");
  };
}

/** Addresses that no setting can allow: this network, link-local ones with cloud metadata, and multicast. */
const neverIpv4: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["169.254.0.0", 16],
  ["168.63.129.16", 32],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];

/** A function that tells whether an operator may name a host that has this address: also one of a private network. */
export function privateAddressCheck(): (address: string) => boolean {
  const never = new BlockList();
  for (const [network, bits] of neverIpv4) never.addSubnet(network, bits, "ipv4");
  const local = new BlockList();
  local.addSubnet("fc00::", 7, "ipv6");
  local.addAddress("::1", "ipv6");
  local.addSubnet("2000::", 3, "ipv6");
  return (address) => {
    const family = isIP(address);
    if (family === 4) return !never.check(address, "ipv4");
    return family === 6 && !address.includes("%") && local.check(address, "ipv6");
  };
}

/** Read anew each time: an interface can come and go. */
function attachedNetworks(): string[] {
  return Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).flatMap(({ cidr }) => cidr ?? []));
}

function isWithin(networks: readonly string[], address: string): boolean {
  const list = new BlockList();
  for (const network of networks) {
    const [base = "", bits = ""] = network.split("/");
    list.addSubnet(base, Number(bits), isIP(base) === 4 ? "ipv4" : "ipv6");
  }
  return list.check(address, isIP(address) === 4 ? "ipv4" : "ipv6");
}
