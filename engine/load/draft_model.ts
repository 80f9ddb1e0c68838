// What drafts for a model: a smaller model with the same vocabulary, or the model's own head for
// multi-token prediction. It is on the same device, with as many sequences and as many tokens in its KV
// cache.

import { BLOCK, type CacheTypes, type Device } from "../../kernels/mod.ts";
import { UnsupportedModelError } from "../errors.ts";
import { type GgufFile, MetadataReader, readGguf } from "../gguf/mod.ts";
import { architectureOf } from "../models/registry.ts";
import { checkLayers, Config } from "../nn/mod.ts";
import { type BuildTwin, prove, type ProvedPart } from "../proof/mod.ts";
import { ModelDrafter, tokenBytes } from "../run/mod.ts";
import { viewAsDecoder } from "../vision/mod.ts";
import { type Placement, wholeOn } from "../weights/mod.ts";
import { type BuildOptions, buildRunner, type BuiltHead } from "./build_runner.ts";

/**
 * Tokens by which two vocabularies may differ in number. Models of one family fill the last rows of
 * their embeddings up to different sizes; what stands there never comes in a text.
 */
const MOST_PADDING = 1024;

/** The sizes of the model that it drafts for. */
export interface DraftedModel {
  readonly slots: number;
  /** Window in tokens. */
  readonly context: number;
  readonly chunkSize: number;
  readonly cacheTypes: CacheTypes;
  readonly cacheBlocks: number;
}

/** What drafts for a model, and the network that it runs. */
export interface LoadedDrafter {
  readonly drafter: ModelDrafter;
  readonly network: ProvedPart;
}

/**
 * Loads a draft model.
 *
 * @param gguf the model that it drafts for
 * @param path the draft model's file
 * @throws {UnsupportedModelError} where it cannot draft for that model, with the reason
 */
export async function loadDraftModel(
  gguf: GgufFile,
  path: string,
  { top }: Placement,
  { slots, context, chunkSize, cacheTypes, cacheBlocks }: DraftedModel,
  options: Pick<BuildOptions, "exact" | "onProgress" | "signal" | "openTensors">,
): Promise<LoadedDrafter> {
  const draft = viewAsDecoder(await readGguf(path, gguf.files));
  const metadata = new MetadataReader(draft);
  const architecture = metadata.string("general.architecture");
  if (architectureOf(architecture).isEncoder) {
    throw refusal(gguf, draft, "it is a model for embeddings, which writes no text");
  }
  const vocabulary = commonVocabulary(gguf, draft);
  const config = new Config(metadata, draft.path, architecture);
  checkLayers(draft, config);
  const { maxBindingSize, maxBufferSize } = top.profile;
  const { largest } = tokenBytes(config, cacheTypes);
  const fitting = Math.floor(
    Math.min(maxBindingSize, maxBufferSize) / Math.max(1, largest * BLOCK),
  );
  const blocks = Math.min(cacheBlocks, fitting);
  const window = Math.min(context, config.countOr("context_length", context));
  const { onProgress, ...others } = options;
  const built = {
    ...others,
    config,
    cacheTypes,
    cacheBlocks: blocks,
    limits: { rows: chunkSize + slots, outputs: slots, slots, context: window },
    bidirectionalImages: false,
    window,
  };
  const subject = await buildRunner(draft, wholeOn(top), {
    ...built,
    ...onProgress && { onProgress },
  });
  await subject.network.prepare();
  await subject.runner.prepare();
  return {
    drafter: new ModelDrafter(subject.runner, { cacheBlocks: blocks, chunkSize, vocabulary }),
    network: {
      name: "the draft model",
      file: draft,
      prove: () =>
        prove({ ...subject, device: top, isEncoder: false }, (where, options) => {
          const exact = !subject.network.options.integer;
          return buildRunner(draft, where, { ...built, ...options, exact });
        }),
    },
  };
}

/**
 * Makes the head of a model draft for it.
 *
 * @param build builds the head once more
 */
export async function headDrafter(
  gguf: GgufFile,
  device: Device,
  { network, runner, vocabulary, states }: BuiltHead,
  { cacheBlocks, chunkSize }: DraftedModel,
  build: BuildTwin,
): Promise<LoadedDrafter> {
  await network.prepare();
  await runner.prepare();
  const subject = { network, runner, vocabulary, states, device, isEncoder: false };
  return {
    drafter: new ModelDrafter(runner, { cacheBlocks, chunkSize, vocabulary, states }),
    network: { name: "the head that drafts", file: gguf, prove: () => prove(subject, build) },
  };
}

/**
 * The number of tokens that two models have in common: all of them, except for padding.
 *
 * @throws {UnsupportedModelError} where their tokens differ
 */
export function commonVocabulary(gguf: GgufFile, draft: GgufFile): number {
  const fault = vocabularyFault(gguf, draft);
  if (fault) throw refusal(gguf, draft, fault);
  return Math.min(...[gguf, draft].map((file) => sizeOf(file, piecesOf(file))));
}

/**
 * The reason why a model cannot draft for another one: the difference in their tokens. Undefined if
 * it can.
 */
export function vocabularyFault(gguf: GgufFile, draft: GgufFile): string | undefined {
  for (const key of ["tokenizer.ggml.model", "tokenizer.ggml.pre"]) {
    const [one, other] = [gguf, draft].map(({ metadata }) => metadata[key] ?? "none");
    if (one !== other) return `its ${key} is "${other}", and the model's is "${one}"`;
  }
  const [pieces, others] = [gguf, draft].map(piecesOf);
  const [size, otherSize] = [sizeOf(gguf, pieces), sizeOf(draft, others)];
  if (Math.abs(size - otherSize) > MOST_PADDING) {
    return `it has ${otherSize} tokens, and the model has ${size}`;
  }
  const common = Math.min(size, otherSize);
  for (let token = 0; token < common; token++) {
    const [piece, other] = [pieces[token], others[token]];
    if (piece === other) continue;
    const [name, otherName] = [piece, other].map((text) => JSON.stringify(text ?? "none"));
    return `its token ${token} is ${otherName}, and the model's is ${name}`;
  }
  return undefined;
}

function piecesOf({ metadata }: GgufFile): readonly unknown[] {
  const pieces = metadata["tokenizer.ggml.tokens"];
  return Array.isArray(pieces) ? pieces : [];
}

/** Tokens of a model. One without a list of them, as tests have it, says their number. */
function sizeOf(gguf: GgufFile, pieces: readonly unknown[]): number {
  const metadata = new MetadataReader(gguf);
  const architecture = metadata.string("general.architecture");
  return pieces.length || metadata.optionalCount(`${architecture}.vocab_size`, 0);
}

/** The requirements of a draft model. */
export const DRAFT_ADVICE =
  "a draft model has to be a smaller model of the same family, with the same vocabulary";

function refusal(gguf: GgufFile, draft: GgufFile, reason: string): UnsupportedModelError {
  return new UnsupportedModelError(
    `Cannot draft for "${gguf.path}" with "${draft.path}": ${reason}; ${DRAFT_ADVICE}`,
  );
}
