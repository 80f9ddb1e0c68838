// The address of OLLAMA_HOST: what the server binds to and what its clients connect to. Forms:
// `host`, `host:port`, `:port` (all interfaces), `[::1]:port`, `http://host[:port][/...]`. And
// patterns of hosts and origins that are allowed.

import { BlockList, isIP } from "node:net";

/** The address at which the server listens. */
export interface HostAddress {
  scheme: "http" | "https";
  /** Name or address without brackets. */
  hostname: string;
  port: number;
}

const DEFAULT_PORTS = { plain: 11434, http: 80, https: 443 };
const ALL_INTERFACES = "0.0.0.0";

const LOOPBACK = ["127.0.0.0/8", "::1/128"];
/** RFC 1918 and 4193. */
const PRIVATE = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"];
const UNSPECIFIED = ["0.0.0.0/32", "::/128"];
/** IPv4 addresses that are not public: IANA's registry of special-purpose addresses, and multicast. */
const SPECIAL = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3",
];
/** Public IPv6 addresses, and the ranges among them that are not public or stand for IPv4 addresses. */
const GLOBAL = ["2000::/3"];
const SPECIAL_GLOBAL = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"];
/** IPv6 addresses that end with an IPv4 address (RFC 6052). */
const TRANSLATED = ["64:ff9b::/96"];
/** Addresses of the metadata services of clouds, whose answers contain secrets. */
const METADATA = [
  "169.254.0.0/16",
  "fe80::/10",
  "100.100.100.200/32",
  "168.63.129.16/32",
  "192.0.0.192/32",
  "fd00:ec2::254/128",
];

const loopbackAddresses = listOf(LOOPBACK);
const localAddresses = listOf([...LOOPBACK, ...UNSPECIFIED, ...PRIVATE]);
const specialAddresses = listOf([...SPECIAL, ...SPECIAL_GLOBAL]);
const globalAddresses = listOf(GLOBAL);
const translatedAddresses = listOf(TRANSLATED);
const metadataAddresses = listOf(METADATA);

/** Reads OLLAMA_HOST. An invalid port gives the default one; an empty text gives 127.0.0.1:11434. */
export function parseHost(text = ""): HostAddress {
  const [, named, rest] = /^(?:(https?):\/\/)?([^/]*)/i.exec(text) as unknown as [
    string,
    string?,
    string?,
  ];
  const scheme = (named?.toLowerCase() ?? "http") as HostAddress["scheme"];
  const defaultPort = DEFAULT_PORTS[named ? scheme : "plain"];
  const { hostname, port } = splitPort(rest ?? "");
  return { scheme, hostname: hostname ?? "127.0.0.1", port: readPort(port) ?? defaultPort };
}

/** Whether a text has one of those forms, so that parseHost() uses all of it. */
export function isHostAddress(text: string): boolean {
  const { scheme, hostname } = parseHost(text);
  const [, rest = ""] = /^(?:https?:\/\/)?([^/]*)/i.exec(text) ?? [];
  const { port } = splitPort(rest);
  const host = hostname.includes(":") ? `[${hostname}]` : hostname;
  return (port === undefined || port === "" || readPort(port) !== undefined) &&
    URL.canParse(`${scheme}://${host}/`);
}

/** The URL under which a client on this machine reaches the address, without a trailing slash. */
export function clientUrl({ scheme, hostname, port }: HostAddress): string {
  const reachable = hostname === ALL_INTERFACES
    ? "127.0.0.1"
    : hostname === "::"
    ? "::1"
    : hostname;
  const host = reachable.includes(":") ? `[${reachable}]` : reachable;
  return `${scheme}://${host}:${port}`;
}

/** Whether only this machine reaches what is bound there. */
export function isLoopback(hostname: string): boolean {
  return /^(.+\.)?localhost$/i.test(hostname) || isAmong(loopbackAddresses, hostname);
}

/** Whether it is an address that no public host has: loopback, any, or private. */
export function isLocalAddress(address: string): boolean {
  return isAmong(localAddresses, address);
}

/** Whether it is a public address: neither private nor of a special purpose. */
export function isPublicAddress(address: string): boolean {
  if (isMetadataAddress(address) || isAmong(specialAddresses, address)) return false;
  if (isAmong(translatedAddresses, address)) return isPublicAddress(translatedOf(address));
  return isIP(address) === 4 || isAmong(globalAddresses, address);
}

/** Whether it is link-local, or the metadata service of a cloud. */
export function isMetadataAddress(address: string): boolean {
  return isAmong(metadataAddresses, address);
}

/** The IPv4 address in the last 32 bits of an IPv6 one. */
function translatedOf(address: string): string {
  const { hostname } = new URL(`http://[${address}]`);
  const [high, low] = hostname.slice(1, -1).split(":").slice(-2).map((part) =>
    parseInt(part || "0", 16)
  );
  return [high! >> 8, high! & 255, low! >> 8, low! & 255].join(".");
}

/** Whether an address is in a list. The list also matches IPv4 addresses written as IPv6 ones. */
function isAmong(list: BlockList, address: string): boolean {
  const version = isIP(address);
  return version !== 0 && list.check(address, version === 4 ? "ipv4" : "ipv6");
}

function listOf(networks: string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", prefix] = network.split("/");
    list.addSubnet(address, Number(prefix), address.includes(":") ? "ipv6" : "ipv4");
  }
  return list;
}

function splitPort(text: string): { hostname?: string; port?: string } {
  if (text === "") return {};
  const bracketed = /^\[([^\]]*)\](?::(.*))?$/.exec(text);
  const plain = /^([^:]*)(?::([^:]*))?$/.exec(text);
  const match = bracketed ?? plain;
  // More than one colon and no brackets: an IPv6 address alone.
  if (!match) return { hostname: text };
  return {
    hostname: match[1] || ALL_INTERFACES,
    ...(match[2] !== undefined && { port: match[2] }),
  };
}

function readPort(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d+$/.test(text)) return undefined;
  return Number(text) <= 65535 ? Number(text) : undefined;
}

/** Names that hosts have, with or without the DNS: letters, digits, dots, hyphens and underscores. */
const NAME = /^[\w.-]+$/;
/** An origin as browsers and apps send it: scheme, host and port. Files and some apps have no host. */
const ORIGIN = /^([a-z][a-z\d+.-]*):\/\/(\[[\da-f:.]+\]|[\w.-]*)(?::(\d{1,5}))?$/i;

/** Whether a text is the name or the address of a host, and nothing else beside it. */
export function isHostName(text: string): boolean {
  return NAME.test(text) || isIP(text) !== 0;
}

/** A test for names of hosts. The case of letters does not matter. */
export function hostPattern(pattern: string): (name: string) => boolean {
  const matches = wildcard(pattern);
  return (name) => isHostName(name) && matches(name);
}

/**
 * A test for origins. A pattern without a port means the default port, but if it ends with `*`, any;
 * `*` alone means every origin, also the unknown one of files (`null`).
 */
export function originPattern(pattern: string): (origin: string) => boolean {
  if (pattern === "*") return () => true;
  const [, scheme = "", host = "", port = host.endsWith("*") ? "*" : ""] =
    /^([^:]*):\/\/(.*?)(?::([\d*]*))?$/.exec(pattern) ?? [];
  const matchers = [scheme, host, port].map(wildcard);
  return (origin) => {
    const parts = ORIGIN.exec(origin)?.slice(1);
    return parts !== undefined && matchers.every((matches, index) => matches(parts[index] ?? ""));
  };
}

function wildcard(text: string): (part: string) => boolean {
  const parts = text.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
  const pattern = new RegExp(`^${parts.join(".*")}$`, "i");
  return (part) => pattern.test(part);
}
