// Embedding requests of Ollama's two endpoints and OpenAI's -> the engine's request, and its result
// -> their answers. Pure. Formats: https://github.com/ollama/ollama/blob/main/docs/api.md and
// https://platform.openai.com/docs/api-reference/embeddings

import {
  ContextLengthError,
  type EmbedInput,
  type EmbedOptions,
  type EmbedResult,
  type ModelInfo,
  ModelNotFoundError,
} from "../../../../engine/mod.ts";
import { HttpError } from "../../errors.ts";
import type { LongBody } from "../../stream/json.ts";
import type { Dialect } from "../dialect.ts";
import { type Loading, nanoseconds, readOptions } from "../options.ts";
import type {
  EmbedAnswer,
  LegacyEmbedAnswer,
  OpenAiEmbedAnswer,
  TeiEmbedAnswer,
} from "./answer_schema.ts";
import type {
  EmbedBody,
  LegacyEmbedBody,
  OllamaEmbedBody,
  OpenAiEmbedBody,
  TeiEmbedBody,
} from "./schema.ts";

/** An embedding request, translated. */
export interface EmbedTranslation extends Loading {
  /** If there are none, the model is only loaded, or with keepAlive 0 unloaded. */
  inputs: EmbedInput[];
  options: EmbedOptions;
}

/** The result of an embedding request. Times in milliseconds. */
export interface EmbedOutcome {
  /** As the client wrote it. */
  model: string;
  result: EmbedResult;
  total: number;
  load: number;
}

/** The most numbers in all vectors of an answer: some 100 MB of JSON. */
const MOST_NUMBERS = 2 ** 23;

/**
 * The most inputs of a request, however short the vectors are: this number takes minutes. OpenAI allows
 * 2,048.
 */
const MOST_INPUTS = 2 ** 15;

const invalidType = "invalid input type";

/**
 * Translates the body of POST /api/embed.
 *
 * @throws {HttpError} 400 for what cannot be done
 */
export function translateEmbed(body: OllamaEmbedBody): EmbedTranslation {
  return { ...translateCommon(body, body.dimensions), inputs: readTexts(body.input) };
}

/**
 * Translates the body of POST /api/embeddings.
 *
 * @throws {HttpError} 400 for what cannot be done
 */
export function translateLegacyEmbed(body: LegacyEmbedBody): EmbedTranslation {
  return { ...translateCommon(body), inputs: readTexts(body.prompt) };
}

/**
 * Translates the body of POST /embed, where texts are not cut unless it says so.
 *
 * @throws {HttpError} 400 for what cannot be done
 */
export function translateTeiEmbed(body: TeiEmbedBody): EmbedTranslation {
  const inputs = readTexts(body.inputs);
  if (inputs.length === 0) throw new HttpError(400, "inputs is missing: give a text", "inputs");
  const asked = { ...body, truncate: body.truncate ?? false };
  return { ...translateCommon(asked, body.dimensions), inputs };
}

/** The answer of POST /embed. */
export function teiEmbedAnswer({ result }: EmbedOutcome): TeiEmbedAnswer {
  return result.embeddings.map(toNumbers);
}

/**
 * Translates the body of POST /v1/embeddings.
 *
 * @throws {HttpError} 400 for what cannot be done
 */
export function translateOpenAiEmbed(body: OpenAiEmbedBody): EmbedTranslation {
  const { input, encoding_format: format } = body;
  if (format && !/^(float|base64)$/i.test(format)) {
    throw new HttpError(
      400,
      `Invalid value for 'encoding_format' = ${format}. Supported values: ['float', 'base64'].`,
    );
  }
  if (input === undefined || input === null || (Array.isArray(input) && input.length === 0)) {
    throw new HttpError(400, "invalid input");
  }
  const asked = { ...body, truncate: body.truncate ?? body.truncation };
  const dimensions = body.dimensions ?? body.output_dimension;
  return { ...translateCommon(asked, dimensions), inputs: readInputs(input) };
}

/**
 * @throws {HttpError} 400 where there are too many, or the answer would hold more numbers than one
 * can
 */
export function refuseTooMany(
  { inputs, options }: EmbedTranslation,
  { embeddingLength }: ModelInfo,
): void {
  if (inputs.length > MOST_INPUTS) {
    throw new HttpError(
      400,
      `too many inputs: ${inputs.length}, at most ${MOST_INPUTS} are possible; ` +
        `send them in several requests`,
      "input",
    );
  }
  const width = Math.min(options.dimensions ?? Infinity, embeddingLength);
  const most = Math.floor(MOST_NUMBERS / width);
  if (inputs.length <= most) return;
  throw new HttpError(
    400,
    `too many inputs: ${inputs.length} vectors of ${width} numbers, at most ${most} fit an answer; ` +
      `send them in several requests`,
    "input",
  );
}

/** The answer of POST /api/embed. */
export function embedAnswer({ model, result, total, load }: EmbedOutcome): LongBody<EmbedAnswer> {
  const { embeddings, promptTokens } = result;
  return {
    model,
    embeddings: embeddings.values().map(toNumbers),
    total_duration: nanoseconds(total),
    // Clients demand it, even if the model was loaded already.
    load_duration: nanoseconds(load),
    ...(promptTokens > 0 && { prompt_eval_count: promptTokens }),
  };
}

/** The answer of POST /api/embeddings. */
export function legacyEmbedAnswer({ result }: EmbedOutcome): LegacyEmbedAnswer {
  return { embedding: toNumbers(result.embeddings[0] ?? new Float32Array(0)) };
}

/** The answer of POST /v1/embeddings. */
export function openAiEmbedAnswer(
  { model, result }: EmbedOutcome,
  { encoding_format: format }: OpenAiEmbedBody,
): LongBody<OpenAiEmbedAnswer> {
  const encode = format?.toLowerCase() === "base64" ? toBase64 : toNumbers;
  const { embeddings, promptTokens } = result;
  return {
    object: "list",
    data: embeddings.values().map((vector, index) => ({
      object: "embedding" as const,
      embedding: encode(vector),
      index,
    })),
    model,
    usage: { prompt_tokens: promptTokens, total_tokens: promptTokens },
  };
}

/**
 * The error with the message that Ollama has on these paths; other errors are returned unchanged, and so
 * is a text's being too long for OpenAI's clients, who look for the words of that vendor.
 */
export function embedError(error: unknown, dialect: Dialect): unknown {
  if (error instanceof ContextLengthError && dialect === "ollama") {
    return new HttpError(400, "the input length exceeds the context length");
  }
  if (error instanceof ModelNotFoundError) {
    return new HttpError(404, `model "${error.model}" not found, try pulling it first`);
  }
  return error;
}

function translateCommon(
  body: EmbedBody,
  dimensions?: number | null,
): Omit<EmbedTranslation, "inputs"> {
  const { loading } = readOptions(body.options, body.keep_alive);
  const { contextLength, gpuLayers, prefillChunk } = loading;
  return {
    options: {
      truncate: body.truncate ?? true,
      ...(dimensions && { dimensions }),
      ...(contextLength !== undefined && { contextLength }),
      ...(gpuLayers !== undefined && { gpuLayers }),
      ...(prefillChunk !== undefined && { prefillChunk }),
    },
    ...loading,
  };
}

/** The texts to embed; a single empty text counts as none. */
function readTexts(input: unknown): string[] {
  if (input === undefined || input === null || input === "") return [];
  const texts = Array.isArray(input) ? input : [input];
  if (texts.every((text) => typeof text === "string")) return texts;
  throw new HttpError(400, invalidType);
}

/** Texts or token ids to embed: one of them, or an array of either kind. */
function readInputs(input: unknown): EmbedInput[] {
  const isTokens = (value: unknown) => Array.isArray(value) && value.every(Number.isInteger);
  const inputs = typeof input === "string" || isTokens(input) ? [input] : input;
  const isInput = (value: unknown) => typeof value === "string" || isTokens(value);
  if (Array.isArray(inputs) && inputs.every(isInput)) return inputs;
  throw new HttpError(400, invalidType);
}

/** Powers of ten, by exponent, which doubles hold exactly. */
const POWERS_OF_TEN = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));

/** The numbers with nine digits, which identify every f32 and take half the space of all of f64's. */
function toNumbers(vector: Float32Array): number[] {
  return Array.from(vector, withNineDigits);
}

/** Arithmetic, because toPrecision() and back takes longer than the rest of an answer. */
function withNineDigits(value: number): number {
  const factor = POWERS_OF_TEN[9 - Math.ceil(Math.log10(Math.abs(value)))];
  if (factor === undefined) return Number(value.toPrecision(9)); // such as of zero
  return Math.round(value * factor) / factor;
}

function toBase64({ buffer, byteOffset, byteLength }: Float32Array): string {
  return new Uint8Array(buffer, byteOffset, byteLength).toBase64();
}
