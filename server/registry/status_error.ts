// An answer that is not a success as an error with the registry's own message, if the body is an
// error as registries write it. Other bodies may come from a server that is no registry, and are
// not quoted.

import { RegistryError } from "./errors.ts";
import { parseRetryAfter } from "./retry.ts";

const TRANSIENT = new Set([408, 425, 429, 500, 502, 503, 504]);
const LONGEST_EXCERPT = 200;
/** Room for an error body with details. */
const MOST_BYTES = 16 * 1024;

/**
 * The error that such an answer stands for. Reads no more of the body than an error can take.
 *
 * @param subject what was attempted: "Cannot pull blob …"
 */
export async function statusError(response: Response, subject: string): Promise<RegistryError> {
  const { status, statusText, headers } = response;
  const said = await excerptOf(response);
  const words = [String(status), statusText].filter(Boolean).join(" ");
  const message = `${subject}: the server answered ${words}${said && `: ${said}`}`;
  const retryAfter = parseRetryAfter(headers.get("retry-after"));
  return new RegistryError(message, {
    status,
    transient: TRANSIENT.has(status),
    ...(retryAfter === undefined ? {} : { retryAfter }),
  });
}

async function excerptOf(response: Response): Promise<string> {
  const bytes: number[] = [];
  try {
    for await (const chunk of response.body ?? []) {
      bytes.push(...chunk.subarray(0, MOST_BYTES));
      if (bytes.length >= MOST_BYTES) break;
    }
  } catch {
    // Without a readable body the status has to suffice.
  }
  const text = new TextDecoder().decode(new Uint8Array(bytes));
  return (messageIn(text) ?? "").replace(/\s+/g, " ").trim().slice(0, LONGEST_EXCERPT);
}

/** The message of `{"errors":[{"code","message"}]}` or `{"error":"…"}`. */
function messageIn(text: string): string | undefined {
  try {
    const body = JSON.parse(text);
    const first = body?.errors?.[0];
    const message = first?.message || first?.code || body?.error;
    return typeof message === "string" ? message : undefined;
  } catch {
    return undefined;
  }
}
