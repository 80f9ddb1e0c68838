// Models as /api/tags and /api/ps show them. Pure.

import type { ModelInfo, RunningModel, StoreEntry } from "../../engine/mod.ts";
import type { OllamaDetails, OllamaProcess, OllamaTag } from "./ollama_types.ts";

/** "For ever" as a date: what clients know it by is that it lies centuries ahead. */
const FOREVER_YEARS = 292;

/** An entry of /api/tags. */
export function toTag(entry: StoreEntry, digest: string): OllamaTag {
  return {
    name: entry.name,
    model: entry.name,
    modified_at: entry.modified.toISOString(),
    size: entry.size,
    digest,
    details: toDetails(entry.info),
    capabilities: capabilitiesOf(entry.info),
  };
}

/** What a model can be asked for, in the words by which clients decide what to offer. */
export function capabilitiesOf(info: ModelInfo): string[] {
  if (info.isEmbeddingModel) return ["embedding"];
  const { callsTools: tools, inserts: insert, thinks: thinking } = info;
  const others = Object.entries({ tools, insert, thinking }).filter(([, has]) => has);
  return ["completion", ...others.map(([name]) => name)];
}

/** An entry of /api/ps. All memory that is counted is the GPU's. */
export function toProcess(running: RunningModel, digest: string, now: Date): OllamaProcess {
  const { entry, model } = running;
  const { weights, keyValueCache, scratch } = model.memory;
  const size = weights + keyValueCache + scratch;
  return {
    name: entry.name,
    model: entry.name,
    size,
    digest,
    details: toDetails(entry.info),
    expires_at: expiry(running.expiresAt, now).toISOString(),
    size_vram: size,
    context_length: model.contextLength,
  };
}

/** A count in three digits or so with its letter: 999.89M, 3.2B, 7B. */
export function parameterSize(count: number): string {
  for (const [unit, letter, digits] of [[1e9, "B", 1], [1e6, "M", 2], [1e3, "K", 0]] as const) {
    const scaled = count / unit;
    if (scaled >= 1) return scaled.toFixed(Number.isInteger(scaled) ? 0 : digits) + letter;
  }
  return String(count);
}

function toDetails(info: ModelInfo): OllamaDetails {
  return {
    parent_model: "",
    format: "gguf",
    family: info.architecture,
    families: [info.architecture],
    parameter_size: parameterSize(info.parameterCount),
    quantization_level: info.quantization,
    context_length: info.trainedContextLength,
    embedding_length: info.embeddingLength,
  };
}

function expiry(expiresAt: number, now: Date): Date {
  const forever = new Date(now);
  forever.setUTCFullYear(now.getUTCFullYear() + FOREVER_YEARS);
  return expiresAt < forever.getTime() ? new Date(expiresAt) : forever;
}
