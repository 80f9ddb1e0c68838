// The address of OLLAMA_HOST: what the server binds to and what its clients connect to.
// Forms: `host`, `host:port`, `:port` (all interfaces), `[::1]:port`, `http://host[:port][/...]`.

import { BlockList, isIP } from "node:net";

/** Where the server listens. */
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

const loopbackAddresses = listOf(LOOPBACK);
const localAddresses = listOf([...LOOPBACK, ...UNSPECIFIED, ...PRIVATE]);

/** Reads OLLAMA_HOST. A port that is none gives the default one; no text gives 127.0.0.1:11434. */
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

/** Whether it is an address that no name of the Internet leads to: loopback, any, or private. */
export function isLocalAddress(address: string): boolean {
  return isAmong(localAddresses, address);
}

/** IPv4 addresses written as IPv6 ones count as what they are. */
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
