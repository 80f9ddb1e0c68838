// What the programs that try a library share. They run in Node, in a folder with the library, where
// this file and box_talk.ts are copied to; a line of JSON to standard output tells each result.

import { strict as assert } from "node:assert";
import process from "node:process";
import { weather } from "../../server/box_talk.ts";

/** Address of the server. */
export const url = process.env.QUERN_URL!;
/** A model that never ends its answer. */
export const ENDLESS = "endless";
/** A text that is longer than the window of the model in the box. */
export const long = "How do I pull a model? ".repeat(400);

/** Answers that were left so far. */
let abandoned = 0;

// deno-lint-ignore no-explicit-any
type Any = any;

/** A package by its name, which is no import since it is not there where the project is checked. */
export function load(name: string): Promise<Any> {
  return import(name);
}

/** Tries one thing and tells what came of it. */
export async function check(name: string, run: () => Promise<unknown>): Promise<void> {
  let failure: string | undefined;
  try {
    await run();
  } catch (error) {
    failure = error instanceof Error ? `${error.message}` : String(error);
  }
  process.stdout.write(`${JSON.stringify({ check: name, failure, abandoned })}\n`);
}

/** Holds an answer against what it has to have. */
export function says(text: unknown, expected: RegExp): void {
  assert.match(String(text), expected);
}

/** The pieces of a stream as one text. There have to be several. */
export async function joined<T>(
  stream: AsyncIterable<T>,
  textOf: (piece: T) => string | null | undefined,
): Promise<string> {
  const pieces: string[] = [];
  for await (const piece of stream) {
    const text = textOf(piece);
    if (text) pieces.push(text);
  }
  assert(pieces.length > 2, `the stream had ${pieces.length} pieces: ${JSON.stringify(pieces)}`);
  return pieces.join("");
}

/** The tool, called by a library that calls tools itself: what it is given is held against the question. */
export function tellWeather(given: unknown): string {
  assert.deepEqual(given, weather.arguments);
  return weather.result;
}

/** Expects that something is refused since it is too long for the window. */
export async function refusesLong(run: () => Promise<unknown>): Promise<void> {
  await assert.rejects(run, (error: Any) => {
    const told = [error.message, error.responseBody, error.cause?.message].join(" ");
    assert.match(told, /prompt is (?:too long|longer)/);
    return true;
  });
}

/** Goes away in the midst of an answer. Whether the server stopped then is for its log to say. */
export async function abandons(run: () => Promise<unknown>): Promise<void> {
  abandoned++;
  await run().catch(() => {});
}
