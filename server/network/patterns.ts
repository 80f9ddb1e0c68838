// Patterns for names of hosts and for origins of web pages, in which `*` stands for any text of the
// part where it is: of a scheme, a name or a port. What is matched is taken apart first, so that no
// `*` reaches beyond its part, and what is no name and no origin matches none.

import { isIP } from "node:net";

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
