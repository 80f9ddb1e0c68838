// The address of a server that runs a model in this one's stead, as models carry it.

import { RequestError } from "../errors.ts";

/** Where a server listens of which only a name or a path is given. */
const PORT = "11434";

/**
 * The full address: `host` becomes `http://host:11434`; a path is kept, without a slash at its end.
 *
 * @throws {RequestError} if it is none
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
