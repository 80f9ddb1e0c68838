// The JSON value of a request body. Large bodies are parsed one after the other, a few milliseconds
// at a time, so that other requests need not wait; what a body may contain is bounded while it is
// parsed.

import {
  EmptyJsonError,
  JSON_BOUNDS,
  JsonBoundsError,
  JsonSyntaxError,
  parseJsonBytes,
  TimeSlice,
} from "../../../engine/mod.ts";
import { type BodyAllowance, readBody } from "./bodies.ts";
import { HttpError } from "../errors.ts";

/** Bytes of memory that a value takes beside its text, roughly. */
const VALUE_BYTES = 32;
/** Smaller bodies are parsed within a slice or two of time, and do not queue. */
const SMALL_BYTES = 256 * 2 ** 10;

/** Settles when all large bodies that came earlier have been parsed. */
let earlier: Promise<void> = Promise.resolve();

/**
 * The JSON value of a request body, whatever its content type says.
 *
 * @param context that of a route
 * @throws {HttpError} 400 if there is none or it is no JSON, 413 if it is too much; what `readBody`
 *   throws
 */
export async function readJson(
  { req, var: { body } }: { req: { raw: Request }; var: { body: BodyAllowance } },
): Promise<unknown> {
  return await parseBytes(await readBody(req.raw, body), body);
}

/**
 * The JSON value of bytes that count as a request body, or as a part of one.
 *
 * @throws {HttpError} 400 if there is none or it is no JSON, 413 if it is too much, 503 if there is no
 *   room for it
 */
export async function parseBytes(bytes: Uint8Array, allowance: BodyAllowance): Promise<unknown> {
  const parse = () => parseInSlices(bytes, (values) => allowance.hold(values * VALUE_BYTES));
  if (bytes.length <= SMALL_BYTES) return await parse();
  const parsed = earlier.then(parse);
  earlier = parsed.then(() => {}, () => {});
  return await parsed;
}

async function parseInSlices(
  bytes: Uint8Array,
  hold: (values: number) => void,
): Promise<unknown> {
  const parser = parseJsonBytes(bytes, JSON_BOUNDS);
  const slice = new TimeSlice();
  let held = 0;
  try {
    for (;;) {
      const { done, value } = parser.next();
      if (done) return value;
      hold(value - held);
      held = value;
      if (slice.isOver) await slice.pause();
    }
  } catch (error) {
    throw toHttpError(error);
  }
}

function toHttpError(error: unknown): unknown {
  if (error instanceof EmptyJsonError) return new HttpError(400, "missing request body");
  if (error instanceof JsonBoundsError && error.bound !== "depth") {
    return new HttpError(413, `the request body is too large: ${error.message}`);
  }
  if (error instanceof JsonSyntaxError || error instanceof JsonBoundsError) {
    return new HttpError(400, `invalid JSON in the request body: ${error.message}`);
  }
  return error;
}
