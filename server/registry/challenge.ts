// WWW-Authenticate as registries write it (RFC 9110, section 11.6.1; token authentication of the
// distribution specification), and which servers may hand out tokens for a registry.

/** The demand of a registry: a token from `realm` for `service`, good for `scopes`. */
export interface BearerChallenge {
  realm: string;
  service?: string;
  scopes: string[];
}

/** Registries whose tokens come, signed for, from another host of the same owner. */
const TOKEN_HOSTS: Record<string, string> = {
  "registry.ollama.ai": "ollama.com",
  "hf.co": "huggingface.co",
};

const PARAMETER = /([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/g;

/** The challenge for a bearer token in a WWW-Authenticate header; undefined if it holds none. */
export function parseChallenge(header: string | null): BearerChallenge | undefined {
  const [, parameters] = /(?:^|,)\s*bearer\s+(.*)/i.exec(header ?? "") ?? [];
  if (parameters === undefined) return undefined;
  const values = new Map<string, string>();
  for (const [, key, quoted, plain] of parameters.matchAll(PARAMETER)) {
    const value = quoted?.replace(/\\(.)/g, "$1") ?? plain!;
    if (!values.has(key!.toLowerCase())) values.set(key!.toLowerCase(), value);
  }
  const realm = values.get("realm");
  if (!realm) return undefined;
  const service = values.get("service");
  const scopes = values.get("scope")?.split(" ").filter(Boolean) ?? [];
  return { realm, scopes, ...(service === undefined ? {} : { service }) };
}

/**
 * Whether a request for a token may carry the user's signature. A token is given to the registry
 * that named the realm; a foreign realm would let any registry collect the user's tokens for it.
 */
export function maySign(registry: URL, realm: URL): boolean {
  return realm.host === registry.host ||
    (realm.protocol === "https:" && TOKEN_HOSTS[registry.host] === realm.host);
}
