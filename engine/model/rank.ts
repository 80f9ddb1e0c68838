// How well documents answer a query. Three kinds of models tell: those with a head, which read query and
// document together (cross-encoders, Nogueira and Cho 2019); Qwen3's rerankers, whose answer "yes" or
// "no" to a fixed prompt is the score (Zhang et al. 2025); and any chat model, by a decision. A decoder
// reads the query once for all documents.

import { exponential } from "../../kernels/mod.ts";
import { joinTexts, taint, type Text, type Tokenizer } from "../../tokenizer/mod.ts";
import { cancellable, flagsOf, pollCancellation } from "../cancellation.ts";
import type { ChatContext } from "../chat/mod.ts";
import { ContextLengthError, NotFiniteError, RequestError } from "../errors.ts";
import type { Assembly, RankFormat } from "../load/mod.ts";
import type { Classifier } from "../nn/mod.ts";
import { encodePrompt } from "../prompt/mod.ts";
import type { RankRequest, RankResult } from "../types/mod.ts";
import { encodeOptions, NO, probabilityOf, YES } from "./decide.ts";
import { alike, type ScoredTokens, sumLogprobs } from "./score.ts";

/** A model that may rank. */
export type RankContext = ChatContext & Assembly & { readonly ranking: RankFormat };

/** The instruction in that prompt, with which the models were trained most. */
const QWEN3_INSTRUCTION =
  "Given a web search query, retrieve relevant passages that answer the query";

/** Ranks documents. Errors: as in {@linkcode ChatModel.rank}. */
export async function rank(context: RankContext, request: RankRequest): Promise<RankResult> {
  const { query, signal } = request;
  const { classifier, ranking } = context;
  if (query.trim() === "") throw new RequestError("Cannot rank: query is empty");
  if (request.documents.length === 0) throw new RequestError("Cannot rank: documents is empty");
  const encodeAll = <T>(encode: (document: string) => T): T[] =>
    cancellable(flagsOf(signal), () =>
      cut(context.tokenizer, request).map((document) => {
        pollCancellation();
        return request.truncate ? encodeFitting(context, document, encode) : encode(document);
      }));
  if (classifier) {
    const prompts = encodeAll((document) => pairOf(context, request, document));
    return await byHead(context, classifier, prompts, signal);
  }
  if (context.encoder) {
    throw new RequestError("Cannot rank: the model gives vectors and has no head that ranks");
  }
  const { prompt } = ranking;
  const answers = prompt === undefined ? [] : ["yes", "no"].map((one) => wordOf(context, one));
  const options = encodeAll((document) =>
    prompt !== undefined
      ? answersAfter(context, promptOf(prompt, request, document), answers)
      : decision(context, request, document)
  );
  const { sums, promptTokens } = await sumLogprobs(context, options.flat(2), signal);
  let first = 0;
  const scores = options.map((own) => {
    const count = own.flat().length;
    return probabilityOf(own, sums.subarray(first, first += count))[0];
  });
  return { scores, promptTokens };
}

/** The documents, of which none is longer than wanted. */
function cut(tokenizer: Tokenizer, { documents, documentTokens }: RankRequest): readonly string[] {
  if (documentTokens === undefined) return documents;
  if (!(documentTokens >= 1)) {
    throw new RequestError(
      `Cannot rank: documentTokens is ${documentTokens}, it must be at least 1`,
    );
  }
  return documents.map((document) => {
    const tokens = tokenizer.encode(taint(document));
    return tokens.length <= documentTokens
      ? document
      : tokenizer.decode(tokens.slice(0, documentTokens));
  });
}

/** What encode() makes of a document, or of so much of its beginning that it fits the window. */
function encodeFitting<T>(
  { tokenizer, contextLength }: RankContext,
  document: string,
  encode: (document: string) => T,
): T {
  for (let begun = document;;) {
    try {
      return encode(begun);
    } catch (error) {
      if (!(error instanceof ContextLengthError)) throw error;
      const tokens = tokenizer.encode(taint(begun));
      // A few more, because an answer has tokens, too, and those at the cut may change.
      const kept = tokens.length - (error.promptTokens - contextLength) - 4;
      if (kept <= 0) throw error;
      begun = tokenizer.decode(tokens.slice(0, kept));
    }
  }
}

/** The tokens of query and document for a head. Errors: ContextLengthError. */
function pairOf(context: RankContext, request: RankRequest, document: string): readonly number[] {
  const { tokenizer, contextLength, ranking } = context;
  const { prompt, before, between, after } = ranking;
  const tokens = prompt !== undefined ? tokenizer.encode(promptOf(prompt, request, document)) : [
    ...before,
    ...tokenizer.encode(taint(request.query)),
    ...between,
    ...tokenizer.encode(taint(document)),
    ...after,
  ];
  if (tokens.length <= contextLength) return tokens;
  throw new ContextLengthError(tokens.length, contextLength);
}

/** The text of a prompt, in which query and document are data. */
function promptOf(prompt: string, { query, instruction }: RankRequest, document: string): Text {
  const values: Record<string, Text> = {
    "{query}": taint(query),
    "{document}": taint(document),
    "{instruction}": instruction === undefined ? QWEN3_INSTRUCTION : taint(instruction),
  };
  const parts = prompt.split(/(\{(?:query|document|instruction)\})/);
  return joinTexts(parts.map((part) => values[part] ?? part));
}

/** The outputs of a head for each prompt, and the probabilities that follow from them. */
async function byHead(
  context: RankContext,
  classifier: Classifier,
  prompts: readonly (readonly number[])[],
  signal: AbortSignal | undefined,
): Promise<RankResult> {
  const { scheduler, encoder, config: { width } } = context;
  const { pooling } = classifier;
  // Tokens of an encoder see those after them, so what comes before is not the same for all.
  const shared = encoder || prompts.length === 1
    ? 0
    : Math.min(...prompts.map((prompt) => Math.min(prompt.length - 1, alike(prompt, prompts[0]))));
  const trunk = shared > 0
    ? [{ tokens: prompts[0].slice(0, shared), wanted: "none" as const }]
    : [];
  const states = await scheduler.evaluate({
    branches: [
      ...trunk,
      ...prompts.map((prompt) => ({
        tokens: prompt.slice(shared),
        ...(shared > 0 && { after: 0 }),
        wanted: pooling === "mean" ? "all" as const : pooling,
      })),
    ],
    output: "hidden",
    whole: encoder,
    signal,
    adapters: context.adapterScales,
  });
  const outputs = states.slice(trunk.length).map((rows, index) => {
    const count = rows.length / width;
    const state = Float64Array.from({ length: width }, (_, column) => {
      let sum = 0;
      for (let row = 0; row < count; row++) sum += rows[row * width + column];
      return sum / count;
    });
    const values = [...classifier.outputs(state)];
    if (!values.every(Number.isFinite)) throw new NotFiniteError(`outputs of document ${index}`);
    return values;
  });
  const tokens = prompts.reduce((sum, prompt) => sum + prompt.length - shared, shared);
  return { scores: outputs.map(scoreOf), outputs, promptTokens: tokens };
}

/** The first share of the softmax of the outputs; the sigmoid of a single one, which is that beside 0. */
function scoreOf(outputs: readonly number[]): number {
  const all = outputs.length === 1 ? [outputs[0], 0] : outputs;
  const most = Math.max(...all);
  const shares = all.map((output) => exponential(output - most));
  return shares[0] / shares.reduce((sum, share) => sum + share, 0);
}

/** Each of two answers after a prompt. */
function answersAfter(
  context: RankContext,
  prompt: Text,
  answers: readonly (readonly number[])[],
): ScoredTokens[][] {
  const tokens = encodePrompt(context, { prompt }) as number[];
  return answers.map((answer) => [{ tokens: [...tokens, ...answer], from: tokens.length }]);
}

/** The token that is a word, as the card looks it up; without one, the tokens of the word. */
function wordOf({ tokenizer }: RankContext, word: string): number[] {
  const tokens = tokenizer.encode(word);
  if (tokens.length === 1) return tokens;
  for (let id = 0; id < tokenizer.vocabularySize; id++) {
    if (tokenizer.piece(id) === word) return [id];
  }
  return tokens;
}

/** A decision about a document. What is the same for all documents comes first. */
function decision(
  context: RankContext,
  { query, instruction = "The document answers the query.", template }: RankRequest,
  document: string,
): ScoredTokens[][] {
  const messages = [{ role: "user" as const, content: `Query: ${query}\n\nDocument: ${document}` }];
  const text =
    `Is this so, judging by the above? ${instruction}\n\nAnswer with "Yes" or "No" alone.`;
  const asked = { messages, ...(template !== undefined && { template }) };
  return encodeOptions(context, asked, { text, options: [YES, NO] }, "documents");
}
