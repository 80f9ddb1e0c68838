// What the header of a model's file tells, without a device.

import { createTokenizer, type Tokenizer } from "../../tokenizer/mod.ts";
import { detectAnswerFormat } from "../chat/mod.ts";
import {
  type ByteSources,
  fileTypeName,
  type GgufFile,
  MetadataReader,
  readGguf,
} from "../gguf/mod.ts";
import { isReranker } from "./rank_format.ts";
import { architectures } from "../models/registry.ts";
import { findFillInMiddleTokens } from "../prompt/mod.ts";
import type { LoadOptions, ModelInfo } from "../types/mod.ts";
import { isSpeechArchitecture } from "../speech/mod.ts";
import { hearingFault } from "../hearing/mod.ts";
import { viewAsDecoder, visionFault } from "../vision/mod.ts";

/** Greatest `pooling_type` with a meaning: that of models that rank. -1, read as unsigned, means "unspecified". */
const LAST_POOLING_TYPE = 4;

/** Characters of a template that are searched. Real templates have some 20,000. */
const LONGEST_TEMPLATE = 1 << 20;

/**
 * Reads the header of a model's file.
 *
 * @param options projector: path of the file with the image encoder, if that is a file of its own;
 *   files: what opens the paths, by default this machine
 * @throws {GgufError} if a header is malformed
 */
export async function inspectModel(
  path: string | URL,
  { projector, files }: Pick<LoadOptions, "projector"> & { files?: ByteSources } = {},
): Promise<ModelInfo> {
  const gguf = await readGguf(path, files);
  return describeModel(gguf, projector === undefined ? gguf : await readGguf(projector, files));
}

/**
 * Loads a vocabulary without any device. Errors: GgufError, TokenizerError.
 *
 * @param options files: what opens the path, by default this machine
 */
export async function loadTokenizer(
  path: string | URL,
  { files }: { files?: ByteSources } = {},
): Promise<Tokenizer> {
  return createTokenizer(viewAsDecoder(await readGguf(path, files)).metadata);
}

/**
 * The facts of a header that was read.
 *
 * @param projector header of the file with the image encoder
 * @throws {GgufError} if it names no architecture
 */
export function describeModel(gguf: GgufFile, projector = gguf): ModelInfo {
  const metadata = new MetadataReader(gguf);
  const architecture = metadata.string("general.architecture");
  const entry = architectures.get(architecture);
  const isEncoder = entry?.isEncoder ?? false;
  const transcribes = isSpeechArchitecture(architecture);
  const tensors = [...gguf.tensors.values()];
  const weights = (shape: readonly number[]) => shape.reduce((product, size) => product * size, 1);
  const template = gguf.metadata["tokenizer.chat_template"];
  const answers = detectAnswerFormat(
    typeof template === "string" ? template.slice(0, LONGEST_TEMPLATE) : undefined,
  );
  const isEmbedding = isEncoder ||
    metadata.optionalNumber(`${architecture}.pooling_type`, Infinity) <= LAST_POOLING_TYPE;
  const tokens = gguf.metadata["tokenizer.ggml.tokens"];
  const ranks = metadata.optionalNumber(`${architecture}.pooling_type`, 0) === LAST_POOLING_TYPE ||
    isReranker(gguf.metadata);
  return {
    architecture,
    ...(Array.isArray(tokens) && { vocabularySize: tokens.length }),
    parameterCount: tensors.reduce((sum, { shape }) => sum + weights(shape), 0),
    quantization: quantizationOf(gguf, metadata),
    trainedContextLength: metadata.optionalCount(`${architecture}.context_length`, 0) || 2048,
    embeddingLength: metadata.optionalCount(`${architecture}.embedding_length`, 0),
    fileSize: gguf.fileSize,
    hasChatTemplate: typeof template === "string" && template !== "",
    callsTools: answers.calls !== undefined || !isEmbedding && !transcribes && "generic",
    thinks: answers.thinking !== undefined,
    fillsInMiddle: findFillInMiddleTokens(gguf.metadata) !== undefined,
    readsImages: entry !== undefined && !isEncoder && visionFault(gguf, projector) === undefined,
    ...(entry !== undefined && !isEncoder && projector !== gguf &&
      hearingFault(gguf, projector) === undefined && { hears: true }),
    ...(ranks && { ranks }),
    ...(transcribes && { transcribes }),
    isEmbeddingModel: isEmbedding,
  };
}

/** The declared file type, or else the tensor type with the most bytes. */
function quantizationOf(gguf: GgufFile, metadata: MetadataReader): string {
  const declared = metadata.has("general.file_type")
    ? fileTypeName(metadata.count("general.file_type"))
    : undefined;
  if (declared) return declared;
  const bytes = new Map<string, number>();
  for (const { typeName, byteLength } of gguf.tensors.values()) {
    bytes.set(typeName, (bytes.get(typeName) ?? 0) + byteLength);
  }
  return [...bytes].sort((a, b) => b[1] - a[1])[0]?.[0] ?? "unknown";
}
