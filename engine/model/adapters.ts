// The LoRA adapters of a model as requests name them, and the factors that follow for each.

import { basename } from "../../host/mod.ts";
import { RequestError } from "../errors.ts";
import { type ByteSources, readGguf } from "../gguf/mod.ts";
import type { AdapterInfo, AdapterSource, LoraChoice, LoraOptions } from "../types/mod.ts";

/** Most that a factor may be, either way. */
const MOST_SCALE = 100;

/**
 * What requests are told of adapters. A name that is not given is that in the file, or the file's own; if
 * another adapter has it, a number follows.
 *
 * @throws {GgufError} if a file is no GGUF file
 * @throws {RequestError} for two of one name, or a factor out of bounds
 */
export async function describeAdapters(
  sources: readonly AdapterSource[],
  files?: ByteSources,
): Promise<AdapterInfo[]> {
  const known = new Set<string>();
  const given = sources.flatMap(({ name }) => name ?? []);
  const twice = given.find((name, i) => given.indexOf(name) < i);
  if (twice !== undefined) {
    throw new RequestError(`Cannot load two adapters as "${twice}": give one of them another name`);
  }
  const adapters: AdapterInfo[] = [];
  for (const [id, { path, name: asked, scale = 1 }] of sources.entries()) {
    const own = asked ?? await nameIn(path, files);
    let name = own;
    for (let i = 2; asked === undefined && [...known, ...given].includes(name); i++) {
      name = `${own} ${i}`;
    }
    checkScale(scale, name);
    known.add(name);
    adapters.push({ id, name, path, scale });
  }
  return adapters;
}

async function nameIn(path: string, files: ByteSources | undefined): Promise<string> {
  const { "general.name": name } = (await readGguf(path, files)).metadata;
  return typeof name === "string" && name !== "" ? name : basename(path).replace(/\.gguf$/i, "");
}

/** The factor of each adapter in a request, if there is one that is not zero. Errors: RequestError. */
export function adapterScales(
  adapters: readonly AdapterInfo[],
  { lora }: LoraOptions,
): number[] | undefined {
  const scales = adapters.map(({ scale }) => lora ? 0 : scale);
  const named = new Set<number>();
  for (const choice of lora ?? []) {
    const { id, scale = 1 } = choice;
    const index = find(adapters, choice);
    if (named.has(index)) throw new RequestError(`Cannot apply adapter "${id}" twice`);
    named.add(index);
    checkScale(scale, id);
    scales[index] = scale;
  }
  return scales.some((scale) => scale !== 0) ? scales : undefined;
}

function find(adapters: readonly AdapterInfo[], { id }: LoraChoice): number {
  const index = adapters.findIndex((adapter) => adapter.id === id || adapter.name === id);
  if (index >= 0) return index;
  const there = adapters.map(({ id, name }) => `${id} ("${name}")`).join(", ");
  const state = there === "" ? "the model has none" : `the model has ${there}`;
  throw new RequestError(`Cannot apply adapter ${JSON.stringify(id)}: ${state}`);
}

function checkScale(scale: number, id: number | string): void {
  if (Math.abs(scale) <= MOST_SCALE) return;
  throw new RequestError(
    `Cannot apply adapter "${id}": its scale is ${scale}, it must be from -${MOST_SCALE} to ${MOST_SCALE}`,
  );
}
