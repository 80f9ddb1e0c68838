// The address of a server that runs a model instead of this one, as models contain it.

import { RequestError } from "../errors.ts";

/** Default port of such a server. */
const PORT = "11434";

/**
 * The full address: `host` becomes `http://host:11434`. A path is kept, without a slash at its end.
 *
 * @throws {RequestError} if it is not an address
 */
export function readRemoteHost(text: string): string {
  const isPath = text.startsWith("/");
  const full = isPath ? `http://localhost:${PORT}${text}` : text;
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(full) ? full : `http://${full}`);
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === "" || url.username !== "") {
    throw new RequestError(`bad remote: "${text}" is no address of a server`);
  }
  const hasScheme = full !== text || /^https?:/i.test(text);
  if (url.port === "" && !hasScheme) url.port = PORT;
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}
