// Files of which one tensor is removed, renamed, or halved in its rows or columns: a load has to fail
// and name it, or the logits are those of the whole file.

import { type GgufFile, readGguf, type TensorInfo, TensorReader } from "../../engine/gguf/mod.ts";
import { readRawMetadata, writeGguf } from "../../engine/gguf/mod.ts";
import { loadModel } from "../../engine/mod.ts";
import { tensorTypeById } from "../../engine/gguf/mod.ts";
import { LOAD, type Trial, tryLoad } from "./trial.ts";

/** What is done to a tensor. */
export type Fault = "removed" | "renamed" | "rows halved" | "columns halved";

export const FAULTS: readonly Fault[] = ["removed", "renamed", "rows halved", "columns halved"];

/** What came of the faults of a model, by their number. */
export interface Counts {
  /** The load failed and named the tensor. */
  named: number;
  /** It failed, and did not. */
  unnamed: number;
  /** It loaded, and the logits are the same. */
  equal: number;
  /** It loaded, and they are not. */
  different: number;
}

/** A fault that was not noticed, or not named. */
export interface Miss {
  readonly fault: Fault;
  readonly tensor: string;
  readonly state: string;
}

/** The faults of one model. */
export interface Report {
  readonly counts: Record<Fault, Counts>;
  readonly misses: readonly Miss[];
}

/** Puts a fault into a tensor; undefined where it can have none of this kind, or goes away. */
function faulty(tensor: TensorInfo, fault: Fault): TensorInfo | "removed" | undefined {
  const { name, shape, byteLength } = tensor;
  if (fault === "removed") return "removed";
  if (fault === "renamed") return { ...tensor, name: `${name}_of_another` };
  const axis = fault === "columns halved" ? 0 : shape.findLastIndex((size) => size > 1);
  const { blockSize } = tensorTypeById(tensor.type)!;
  const halves = shape.map((size, i) => i === axis ? size / 2 : size);
  if (axis < 0 || (axis === 0 && fault === "rows halved" && shape.length > 1)) return undefined;
  const isWhole = Number.isInteger(halves[axis]) && halves[0] % blockSize === 0 && halves[axis] > 0;
  return isWhole ? { ...tensor, shape: halves, byteLength: byteLength / 2 } : undefined;
}

/** The header with a fault in some tensors. */
function withFault(gguf: GgufFile, names: ReadonlySet<string>, fault: Fault): GgufFile {
  const tensors = gguf.tensors.values().flatMap((tensor) => {
    const changed = names.has(tensor.name) ? faulty(tensor, fault) : tensor;
    return changed === "removed" ? [] : [changed ?? tensor];
  });
  return { ...gguf, tensors: new Map(tensors.map((tensor) => [tensor.name, tensor])) };
}

/** Logits of a model whose header was changed, of tokens that its embeddings have. */
async function logitsOf(gguf: GgufFile, tokens: readonly number[]): Promise<Float32Array> {
  const path = await Deno.makeTempFile({ suffix: ".gguf" });
  try {
    const raw = await readRawMetadata(gguf.path);
    using reader = await TensorReader.open(gguf);
    const tensors = gguf.tensors.values().map((tensor) => ({
      name: tensor.name,
      shape: tensor.shape,
      type: tensor.typeName,
      data() {
        const bytes = new Uint8Array(tensor.byteLength);
        reader.read(tensor, 0, bytes);
        return [bytes];
      },
    }));
    await writeGguf(path, Object.fromEntries(raw), [...tensors]);
    await using model = await loadModel(path, LOAD);
    return await model.logits(tokens);
  } finally {
    await Deno.remove(path);
  }
}

/** Tries the faults of a model, of the tensors that are to be kept in it. */
export async function tryTensorFaults(
  path: string | URL,
  { tokens = [1, 2, 3, 5, 7], keep = () => true, faults = FAULTS, load = tryLoad }: {
    /** Of the logits that are compared; none: what loads counts as equal. */
    tokens?: readonly number[];
    keep?: (tensor: string) => boolean;
    faults?: readonly Fault[];
    load?: (gguf: GgufFile) => Promise<Trial>;
  } = {},
): Promise<Report> {
  const gguf = await readGguf(path);
  const sound = await load(gguf);
  if (sound.error !== undefined) throw new Error(`Cannot try "${path}": ${sound.error}`);
  const counts = Object.fromEntries(
    FAULTS.map((fault) => [fault, { named: 0, unnamed: 0, equal: 0, different: 0 }]),
  ) as Record<Fault, Counts>;
  const misses: Miss[] = [];
  let expected: Float32Array | undefined;
  const areEqual = async (names: readonly string[], fault: Fault) => {
    if (tokens.length === 0) return true;
    expected ??= await logitsOf(gguf, tokens);
    const logits = await logitsOf(withFault(gguf, new Set(names), fault), tokens);
    return logits.length === expected.length && logits.every((value, i) => value === expected![i]);
  };
  for (const fault of faults) {
    const unread: string[] = [];
    for (const [name, tensor] of gguf.tensors) {
      if (!keep(name) || !faulty(tensor, fault)) continue;
      const { error } = await load(withFault(gguf, new Set([name]), fault));
      if (error !== undefined) {
        const isNamed = error.includes(`"${name}"`) || error.includes(`"${name}_of_another"`);
        counts[fault][isNamed ? "named" : "unnamed"]++;
        if (!isNamed) misses.push({ fault, tensor: name, state: error });
      } else if (!sound.tensors.has(name)) {
        unread.push(name);
      } else if (await areEqual([name], fault)) {
        counts[fault].equal++;
      } else {
        counts[fault].different++;
        misses.push({ fault, tensor: name, state: "it loads, and the logits are others" });
      }
    }
    // What the whole file's load does not read cannot change what it gives: one look at all of them.
    if (unread.length === 0) continue;
    const outcome = await areEqual(unread, fault) ? "equal" : "different";
    counts[fault][outcome] += unread.length;
    if (outcome === "different") {
      misses.push({ fault, tensor: unread.join(", "), state: "together they change the logits" });
    }
  }
  return { counts, misses };
}
