// The error of models that run on other servers: such a server refused or failed, could not be
// reached, or must not be asked. Its status is the one that this server's client gets.

import { readRemoteHost } from "../../engine/mod.ts";

/** The known facts of a failure beside its message. */
export interface RemoteErrorOptions extends ErrorOptions {
  /** The other server's Retry-After, as it stands. */
  retryAfter?: string;
}

/** Another server refused, failed, or could not be asked. */
export class RemoteError extends Error {
  /** Name of the class. */
  override name = "RemoteError";
  /** The other server's Retry-After, as it stands. */
  readonly retryAfter?: string;

  /** @param status the HTTP status for our client; 502 if the other server gave none */
  constructor(readonly status: number, message: string, options: RemoteErrorOptions = {}) {
    super(message, options);
    if (options.retryAfter !== undefined) this.retryAfter = options.retryAfter;
  }
}

/** The error for an address that must not be asked. */
export function refusal(host: string, state = "it is at no public address"): RemoteError {
  const { hostname } = new URL(readRemoteHost(host));
  return new RemoteError(
    403,
    `Cannot use the models of ${host}: ${state}: to allow it, add "${hostname}" to OLLAMA_REMOTES ` +
      "and start this server again",
  );
}
