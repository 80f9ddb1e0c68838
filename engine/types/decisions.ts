// Questions that are answered by probabilities instead of text, and documents that are ranked by how
// well they answer a query. Plain data that postMessage can send, as in requests.ts.

import type { LoraOptions } from "./lora.ts";
import type { ChatMessage, RemoteLoadOptions, WindowOptions } from "./requests.ts";

/** The members of all questions. */
export interface NamedQuestion {
  /** What the answer calls it. */
  name?: string | null;
  /** What is asked about the input: a question, or a statement that may be true. */
  instructions: string;
}

/** One of the values between which a question chooses. */
export interface DecisionChoice {
  /** The answer that is scored. True and "true" are two values. */
  value: string | boolean;
  /** What it means, for the model. */
  description?: string | undefined;
}

/** A level of a scale. */
export interface DecisionLevel {
  /** The answer that is scored. */
  label: string;
  /** What it means, for the model. */
  description?: string | undefined;
}

/** Whether something is so. */
export interface PredicateQuestion extends NamedQuestion {
  /** Tells it from other questions. */
  type: "predicate";
}

/** Which of several values it is. */
export interface ChoiceQuestion extends NamedQuestion {
  /** Tells it from other questions. */
  type: "choice";
  /** At least two, all different. */
  choices: readonly DecisionChoice[];
}

/** Where on a scale it is. */
export interface ScoreQuestion extends NamedQuestion {
  /** Tells it from other questions. */
  type: "score";
  /** From the lowest to the highest, at least two; the first has the value 0, the next 1. */
  levels: readonly DecisionLevel[];
}

/** A question about an input. */
export type DecisionQuestion = PredicateQuestion | ChoiceQuestion | ScoreQuestion;

/** An input, and questions about it. */
export interface DecideRequest extends WindowOptions, LoraOptions, RemoteLoadOptions {
  /** A text, or a conversation, which the model reads once for all questions. */
  input: string | readonly ChatMessage[];
  /** At least one. Each is answered by itself, whatever else is asked. */
  questions: readonly DecisionQuestion[];
  /** A template in Ollama's language, instead of the model's own. Errors: RequestError. */
  template?: string;
  /** Aborting it ends the call with its reason. */
  signal?: AbortSignal;
}

/** The members of all answers. */
export interface NamedAnswer {
  /** The name of the question; null if it has none. */
  name: string | null;
  /**
   * How likely the model was to answer with any of the options at all, 0 to 1. If that is little, the
   * question or its options are foreign to the model, and the probabilities say less.
   */
  mass: number;
}

/** The answer to a predicate. */
export interface PredicateAnswer extends NamedAnswer {
  /** Tells it from other answers. */
  type: "predicate";
  /** That it is so, 0 to 1. */
  probability: number;
}

/** The answer to a choice. */
export interface ChoiceAnswer extends NamedAnswer {
  /** Tells it from other answers. */
  type: "choice";
  /** The most likely value. */
  choice: string | boolean;
  /** Its probability. */
  confidence: number;
  /** Those of all values, in the order of the question. They add up to 1. */
  probabilities: { value: string | boolean; probability: number }[];
}

/** The answer to a score. */
export interface ScoreAnswer extends NamedAnswer {
  /** Tells it from other answers. */
  type: "score";
  /** The mean of the levels' values, weighted by their probabilities. */
  score: number;
  /** The probability of the most likely level. */
  confidence: number;
  /** Those of all levels, in the order of the question. They add up to 1. */
  probabilities: { label: string; value: number; probability: number }[];
}

/** An answer to a question. */
export type DecisionAnswer = PredicateAnswer | ChoiceAnswer | ScoreAnswer;

/** The answers to a request's questions. */
export interface DecideResult {
  /** In the order of the questions. */
  answers: DecisionAnswer[];
  /** Tokens that the model read; what several questions have in common counts once. */
  promptTokens: number;
}

/** Documents to rank by how well they answer a query. */
export interface RankRequest extends WindowOptions, LoraOptions, RemoteLoadOptions {
  /** What is looked for. */
  query: string;
  /** The documents, at least one. */
  documents: readonly string[];
  /**
   * What makes a document relevant, for models that read an instruction. Default: that it answers the
   * query, in the words with which the model was trained.
   */
  instruction?: string;
  /** Most tokens of a document; what is beyond is not read. Default: all are. */
  documentTokens?: number;
  /** Whether the end of a document that does not fit the window is left out. Default false. */
  truncate?: boolean;
  /** A template in Ollama's language, instead of the model's own; for chat models alone. */
  template?: string;
  /** Aborting it ends the call with its reason. */
  signal?: AbortSignal;
}

/** How well documents answer a query. */
export interface RankResult {
  /**
   * The probability that each is relevant, 0 to 1, in the order of the documents: the sigmoid of a
   * head's output, or the share of "yes" against "no".
   */
  scores: number[];
  /** The outputs of the model's head for each document, as they are; missing if it has none. */
  outputs?: number[][];
  /** Tokens that the model read; what several documents share counts once where the model allows. */
  promptTokens: number;
}
