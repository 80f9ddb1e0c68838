// Runs a model of the conformance data in every way that rows can be batched, and compares the
// logits with those computed elsewhere.

import { loadModel, type LocalLoadOptions, type Model } from "../../engine/mod.ts";
import { nmse } from "../numbers.ts";

/** The conformance data beside the project. */
export const DATA = new URL("../../../shared/data/models/", import.meta.url);

/** Whether it is there. */
export const hasData: boolean = await Deno.stat(DATA).then(() => true, () => false);

/** Registers a test, ignored with the reason in its name where the data is missing. */
export function conformanceTest(name: string, run: () => Promise<void>): void {
  const note = hasData ? "" : " (skipped: no conformance data beside the project)";
  Deno.test({ name: name + note, ignore: !hasData, fn: run });
}

/** A model with known logits. */
export interface Fixture {
  name: string;
  model: URL;
  tokens: number[];
  /** [tokens, vocabulary] */
  expected: Float32Array;
}

/** NMSE of a model's logits, by how the rows were batched. */
export interface Errors {
  whole: number;
  chunks: number;
  single: number;
  interleaved: number;
}

/** Names of the models in a folder of the data. */
export async function namesIn(folder: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of Deno.readDir(new URL(`${folder}/`, DATA))) {
    if (name.endsWith(".gguf")) names.push(name.slice(0, -5));
  }
  return names.sort();
}

/** Models of `architectures-more` whose architectures are supported. */
const MORE = ["mimo2-moe", "minicpm-moe"];

/** All models with known logits: their folders and names. */
export async function fixtureNames(): Promise<[folder: string, name: string][]> {
  const named = (folder: string, names: readonly string[]) =>
    names.map((name): [string, string] => [folder, name]);
  return [
    ...named("architectures", await namesIn("architectures")),
    ...named("architectures-more", MORE),
    ...named("text", await namesIn("text")),
  ];
}

/** Reads f32 values. */
export async function readFloats(path: string): Promise<Float32Array> {
  return new Float32Array((await Deno.readFile(new URL(path, DATA))).buffer);
}

/** Reads a model of `architectures`, `architectures-more` or `text`. */
export async function readFixture(folder: string, name: string): Promise<Fixture> {
  const json = async (path: string) => JSON.parse(await Deno.readTextFile(new URL(path, DATA)));
  const tokens = folder.startsWith("architectures")
    ? await json(`${folder}/${name}.tokens.json`)
    : findTokens(await json(`${folder}/manifest.json`), name);
  return {
    name,
    model: new URL(`${folder}/${name}.gguf`, DATA),
    tokens,
    expected: await readFloats(`${folder}/${name}.logits.f32`),
  };
}

function findTokens(manifest: Record<string, unknown>, name: string): number[] {
  const entry = (manifest[name] ?? manifest) as Record<string, unknown>;
  const { tokens } = { ...manifest, ...entry } as { tokens?: number[] };
  if (!tokens) throw new Error(`Cannot test "${name}": the manifest has no tokens for it`);
  return tokens;
}

/** Runs a fixture in all four ways. */
export async function logitErrors(
  { model, tokens, expected }: Fixture,
  options: LocalLoadOptions = {},
): Promise<Errors> {
  await using loaded: Model = await loadModel(model, {
    contextLength: 512, // that of the reference: LongRoPE chooses its factors by it
    maxSequences: 2,
    exact: true,
    ...options,
  });
  const error = (logits: Float32Array) => nmse(logits, expected);
  const whole = error(await loaded.logits(tokens));
  const chunks = error(await loaded.logits(tokens, { chunkSize: 7 }));
  const single = error(await loaded.logits(tokens, { chunkSize: 1 }));
  // Another sequence runs beside it, of which the result must know nothing.
  const other = tokens.map((_, i) => tokens[tokens.length - 1 - i]);
  const [first, second] = await loaded.batchLogits([tokens, other], { chunkSize: 5 });
  const alone = await loaded.logits(other);
  const interleaved = Math.max(error(first), nmse(second, alone));
  return { whole, chunks, single, interleaved };
}

/** The largest of the errors; NaN if one is. */
export function worst(errors: Errors): number {
  return Math.max(...Object.values(errors));
}
