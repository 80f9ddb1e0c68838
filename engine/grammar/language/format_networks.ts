// The formats of networks and interfaces as patterns, as Python's ipaddress reads them: an address, and how many
// of its bits are those of the network. Of an address of a network alone the other bits are zero.

import { BYTE, GROUP, IPV4, IPV6 } from "./format_hosts.ts";

const BITS_OF_4 = "(?:3[0-2]|[12]?\\d)";
const BITS_OF_6 = "(?:12[0-8]|1[01]\\d|[1-9]?\\d)";

const list = (length: number, make: (index: number) => string) =>
  Array.from({ length }, (_, i) => make(i));

/** A network: the bytes before the one that is divided, the multiples in it, zeros. */
function network4(): string {
  const ofLength = (bits: number) => {
    const [whole, part] = [bits >> 3, bits & 7];
    const bytes = list(4, (index) => {
      if (index < whole) return BYTE;
      if (index > whole || part === 0) return "0";
      return `(?:${list(1 << part, (count) => String(count << 8 - part)).join("|")})`;
    });
    return `${bytes.join("\\.")}/${bits}`;
  };
  return `(?:${IPV4}|${list(33, ofLength).join("|")})`;
}

/** A network: an address alone, or whole groups of 16 bits and zeros for the rest. */
function network6(): string {
  const ofGroups = (groups: number) => {
    const bits = list(129 - 16 * groups, (index) => String(16 * groups + index));
    return `${list(groups, () => GROUP).join(":")}::/(?:${bits.join("|")})`;
  };
  return `(?:${IPV6}(?:/128)?|${list(8, ofGroups).join("|")})`;
}

const INTERFACE_4 = `${IPV4}(?:/${BITS_OF_4})?`;
const INTERFACE_6 = `${IPV6}(?:/${BITS_OF_6})?`;

/** Patterns by format: those of pydantic, Zod ("cidr…") and schemars ("ip"). */
export const NETWORK_FORMATS: Readonly<Record<string, () => readonly string[]>> = {
  "ip": () => [`(?:${IPV4}|${IPV6})`],
  "ipvanyaddress": () => [`(?:${IPV4}|${IPV6})`],
  "ipv4network": () => [network4()],
  "ipv6network": () => [network6()],
  "ipvanynetwork": () => [`(?:${network4()}|${network6()})`],
  "ipv4interface": () => [INTERFACE_4],
  "ipv6interface": () => [INTERFACE_6],
  "ipvanyinterface": () => [`(?:${INTERFACE_4}|${INTERFACE_6})`],
  "cidrv4": () => [`${IPV4}/${BITS_OF_4}`],
  "cidrv6": () => [`${IPV6}/${BITS_OF_6}`],
};
