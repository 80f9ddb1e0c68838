// The address of OLLAMA_HOST: what the server binds to and what its clients connect to.
// Forms: `host`, `host:port`, `:port` (all interfaces), `[::1]:port`, `http://host[:port][/...]`.

/** Where the server listens. */
export interface HostAddress {
  scheme: "http" | "https";
  /** Name or address without brackets. */
  hostname: string;
  port: number;
}

const DEFAULT_PORTS = { plain: 11434, http: 80, https: 443 };
const ALL_INTERFACES = "0.0.0.0";

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
  return hostname === "localhost" || hostname === "::1" || /^127(\.\d+){3}$/.test(hostname);
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
