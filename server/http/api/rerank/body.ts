// Rerank and score requests -> what the engine is asked to rank, and its scores -> answers in the forms
// of Cohere, Jina, vLLM and llama-server, which are one, of Voyage, and of Text Embeddings Inference.
// Pure.

import type { RankRequest, RankResult } from "../../../../engine/mod.ts";
import { HttpError } from "../../errors.ts";
import { readLora } from "../lora.ts";
import { type Loading, nanoseconds, readOptions } from "../options.ts";
import type { AnyRerankAnswer, NativeRerankAnswer, ScoreAnswer } from "./answer_schema.ts";
import type { RerankBody, ScoreBody } from "./schema.ts";

/** A request, translated into one for each query. */
export interface RankTranslation extends Loading {
  requests: RankRequest[];
}

/** The results of a request. Times in milliseconds. */
export interface RankOutcome {
  id: string;
  /** As the client wrote it. */
  model: string;
  results: RankResult[];
  now: Date;
  total: number;
  load: number;
}

/** The most documents of a request: so many take minutes. */
const MOST_DOCUMENTS = 10_000;

/**
 * Translates the body of a rerank request.
 *
 * @throws {HttpError} 400 for what cannot be done, with the member at fault
 */
export function translateRerank(body: RerankBody): RankTranslation {
  const { query, top_n: topN, top_k: topK, max_tokens_per_doc: documentTokens } = body;
  if (!query?.trim()) throw refusal("query", "is missing");
  if (body.documents?.length && body.texts?.length) {
    throw refusal("texts", "goes without documents");
  }
  const name = body.texts ? "texts" : "documents";
  for (const [member, most] of [["top_n", topN], ["top_k", topK]] as const) {
    if (most !== undefined && most !== null && most < 1) {
      throw refusal(member, "must be at least 1");
    }
  }
  if (documentTokens !== undefined && documentTokens !== null && documentTokens < 1) {
    throw refusal("max_tokens_per_doc", "must be at least 1");
  }
  const given = readDocuments(documentsOf(body), name);
  const { loading, common } = readCommon(body);
  const truncate = body.truncate ?? body.truncation ?? false;
  return {
    requests: [{
      query,
      documents: given,
      ...common,
      truncate,
      ...documentTokens && { documentTokens },
    }],
    ...loading,
  };
}

/**
 * Translates the body of POST /v1/score.
 *
 * @throws {HttpError} 400 for what cannot be done, with the member at fault
 */
export function translateScore(body: ScoreBody): RankTranslation {
  const queries = textsOf(
    body.text_1 ?? body.queries,
    body.text_1 ? "text_1" : "queries",
    "text_1",
  );
  const name = body.text_2 ? "text_2" : body.documents ? "documents" : "items";
  const documents = textsOf(body.text_2 ?? body.documents ?? body.items, name, "text_2");
  if (queries.length > 1 && queries.length !== documents.length) {
    const state = `has ${documents.length} texts for ${queries.length} queries`;
    throw refusal(name, `${state}: give one query, or as many`);
  }
  const { loading, common } = readCommon(body);
  const truncate = body.truncate ?? false;
  const requests = queries.length === 1
    ? [{ query: queries[0], documents, ...common, truncate }]
    : queries.map((query, i) => ({ query, documents: [documents[i]], ...common, truncate }));
  return { requests, ...loading };
}

/** The answer of a rerank path, in the form whose words the request has. */
export function rerankAnswer(outcome: RankOutcome, body: RerankBody): AnyRerankAnswer {
  const { id, model, results: [result] } = outcome;
  const { promptTokens } = result;
  const documents = documentsOf(body);
  const ranked = rankedOf(result, body);
  const usage = { prompt_tokens: promptTokens, total_tokens: promptTokens };
  if (body.texts) {
    return ranked.map(({ index, score }) => ({
      index,
      score,
      ...(body.return_text && { text: documents[index] }),
    }));
  }
  const shows = body.return_documents ?? false;
  if (Object.hasOwn(body, "top_k")) {
    const data = ranked.map(({ index, score }) => ({
      index,
      relevance_score: score,
      ...(shows && { document: documents[index] }),
    }));
    return { object: "list", model, data, usage };
  }
  return {
    id,
    object: "list",
    model,
    results: toResults(ranked, documents, shows),
    usage,
    meta: {
      api_version: { version: "2" },
      billed_units: { search_units: 0 },
      tokens: { input_tokens: promptTokens, output_tokens: 0 },
    },
  };
}

/** The answer of POST /api/rerank. */
export function nativeRerankAnswer(
  { model, results: [result], total, load }: RankOutcome,
  body: RerankBody,
): NativeRerankAnswer {
  return {
    model,
    results: toResults(rankedOf(result, body), documentsOf(body), body.return_documents ?? false),
    total_duration: nanoseconds(total),
    load_duration: nanoseconds(load),
    prompt_eval_count: result.promptTokens,
  };
}

/** The answer of POST /v1/score. */
export function scoreAnswer({ id, model, results, now }: RankOutcome): ScoreAnswer {
  const tokens = results.reduce((sum, { promptTokens }) => sum + promptTokens, 0);
  return {
    id,
    object: "list",
    created: Math.floor(now.getTime() / 1000),
    model,
    data: results.flatMap(({ scores }) => scores)
      .map((score, index) => ({ index, object: "score" as const, score })),
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  };
}

/** Documents by their scores, the most relevant first, as many as are wanted. */
function rankedOf({ scores, outputs }: RankResult, body: RerankBody) {
  if (body.raw_scores && !outputs) {
    throw refusal("raw_scores", "is true, and the model has no head whose outputs it could tell");
  }
  const ranked = scores.map((score, index) => {
    return { index, score: body.raw_scores ? outputs![index][0] : score };
  });
  ranked.sort((a, b) => b.score - a.score || a.index - b.index);
  return ranked.slice(0, body.top_n ?? body.top_k ?? Infinity);
}

function toResults(ranked: ReturnType<typeof rankedOf>, documents: string[], shows: boolean) {
  return ranked.map(({ index, score }) => ({
    index,
    relevance_score: score,
    ...(shows && { document: { text: documents[index] } }),
  }));
}

function documentsOf({ documents, texts }: RerankBody): string[] {
  return texts ?? documents?.map((one) => typeof one === "string" ? one : one.text) ?? [];
}

function readDocuments(documents: string[], name: string): string[] {
  if (documents.length === 0) throw refusal(name, "is missing: give at least one");
  if (documents.length <= MOST_DOCUMENTS) return documents;
  throw refusal(name, `has ${documents.length}, at most ${MOST_DOCUMENTS} are possible`);
}

function textsOf(given: ScoreBody["text_1"], name: string, required: string): string[] {
  if (given === undefined || given === null) throw refusal(required, "is missing");
  return readDocuments(typeof given === "string" ? [given] : given, name);
}

function readCommon(
  { options, keep_alive: stay, instruction, lora: adapters }: Pick<
    RerankBody,
    "options" | "keep_alive" | "instruction" | "lora"
  >,
): { loading: Loading; common: Partial<RankRequest> } {
  const { loading } = readOptions(options, stay);
  const { contextLength, gpuLayers, prefillChunk } = loading;
  const lora = readLora(adapters);
  return {
    loading,
    common: {
      ...(instruction && { instruction }),
      ...(lora && { lora }),
      ...(contextLength !== undefined && { contextLength }),
      ...(gpuLayers !== undefined && { gpuLayers }),
      ...(prefillChunk !== undefined && { prefillChunk }),
    },
  };
}

function refusal(member: string, state: string): HttpError {
  return new HttpError(400, `${member} ${state}`, member);
}
