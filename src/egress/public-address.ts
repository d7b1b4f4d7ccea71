import { BlockList, isIP } from "node:net";

/** Networks that are not the public internet: IANA's registries of special-purpose addresses, and multicast. */
const ipv4: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.31.196.0", 24],
  ["192.52.193.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["192.175.48.0", 24],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
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
 * this machine, its networks or a cloud's metadata is not, and neither is what cannot be read.
 */
export function publicAddressCheck(): (address: string) => boolean {
  const special = new BlockList();
  for (const [network, bits] of ipv4) special.addSubnet(network, bits, "ipv4");
  const global = new BlockList();
  global.addSubnet("2000::", 3, "ipv6");
  const specialV6 = new BlockList();
  for (const [network, bits] of ipv6) specialV6.addSubnet(network, bits, "ipv6");
  return (address) => {
    if (isIP(address) === 4) return !special.check(address, "ipv4");
    // A zone (`fe80::1%eth0`) belongs to an interface of this machine.
    if (isIP(address) !== 6 || address.includes("%")) return false;
    return global.check(address, "ipv6") && !specialV6.check(address, "ipv6");
  };
}
