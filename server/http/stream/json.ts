// JSON responses with the content type that the native API names in full.

import { isJsonObject } from "../../../engine/mod.ts";
import type { ContentfulStatusCode } from "../../dependencies.ts";

const JSON_TYPE = "application/json; charset=utf-8";

/** Characters of a body that are encoded at a time: some milliseconds of work. */
const PIECE = 1 << 16;

/** A response with a JSON body, whose type a caller has to name: without one no body is right. */
export function json<Body = never>(
  body: NoInfer<Body>,
  status: ContentfulStatusCode = 200,
  headers: Record<string, string> = {},
): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": JSON_TYPE, ...headers },
  });
}

/** How a JSON answer that takes long is kept alive. */
export interface PatientOptions {
  /** Silence in milliseconds after which white space is sent, again and again; 0: none ever. */
  milliseconds: number;
  /** Headers that are known by then. */
  headers: Headers;
  /** The response that tells of a failure. */
  failed: (error: unknown) => Response;
  /** Called where the response begins before the work has ended, with what settles at the end. */
  begins: (ended: Promise<void>) => void;
  /** Ends the work, called when the client has gone. */
  cancel: () => void;
}

/**
 * The JSON response of some work. If that takes long, it begins before: with status 200 and white
 * space, which every parser of JSON skips, so that no proxy takes the connection for dead. Then a
 * failure has no status of its own: its body follows in the same way.
 */
export async function patientJson(
  work: Promise<Response>,
  { milliseconds, headers, failed, begins, cancel }: PatientOptions,
): Promise<Response> {
  if (milliseconds <= 0 || await isSettledWithin(milliseconds, work)) return await work;
  const body = work.catch(failed).then((response) => response.text());
  begins(body.then(() => {}));
  headers.set("content-type", JSON_TYPE);
  const texts = spacedOut(body, milliseconds);
  const encoder = new TextEncoder();
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await texts.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    cancel,
  });
  return new Response(stream, { headers });
}

async function* spacedOut(body: Promise<string>, milliseconds: number): AsyncGenerator<string> {
  do yield " "; while (!(await isSettledWithin(milliseconds, body)));
  yield await body;
}

async function isSettledWithin(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  const { promise: over, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), milliseconds);
  try {
    return await Promise.race([over, work.then(() => true, () => true)]);
  } finally {
    clearTimeout(timer);
  }
}

/** A body in which an iterator may stand for an array. */
export type LongBody<Body> = {
  [Name in keyof Body]: Body[Name] extends (infer Element)[] ? Element[] | IteratorObject<Element>
    : Body[Name];
};

/**
 * A response whose body may be long: of plain data, and of iterators, which become arrays. The
 * elements of its arrays are made while it is sent, so that the others who are served wait for a
 * piece at most.
 */
export function longJson<Body extends object = never>(body: NoInfer<LongBody<Body>>): Response {
  const pieces = largePieces(textOf(body));
  const first = pieces.next();
  const second = pieces.next();
  const headers = { "content-type": JSON_TYPE };
  if (second.done) return new Response(first.value, { headers });
  const begun = [first.value, second.value];
  const encoder = new TextEncoder();
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = begun.shift() ?? pieces.next().value;
      if (piece === undefined) controller.close();
      else controller.enqueue(encoder.encode(piece));
    },
  });
  return new Response(stream, { headers });
}

function* largePieces(texts: Iterable<string>): Generator<string, undefined> {
  let piece = "";
  for (const text of texts) {
    piece += text;
    if (piece.length < PIECE) continue;
    yield piece;
    piece = "";
  }
  if (piece !== "") yield piece;
}

function* textOf(body: object): Generator<string> {
  let before = "{";
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    before = ",";
    if (value instanceof Iterator) yield* arrayOf(value);
    else if (Array.isArray(value)) yield* arrayOf(value.values());
    else if (isJsonObject(value)) yield* textOf(value);
    else yield JSON.stringify(value);
  }
  yield before === "{" ? "{}" : "}";
}

function* arrayOf(elements: Iterator<unknown> & Iterable<unknown>): Generator<string> {
  let before = "[";
  for (const element of elements) {
    yield before + JSON.stringify(element);
    before = ",";
  }
  yield before === "[" ? "[]" : "]";
}
