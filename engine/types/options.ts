// The options of requests, each declared once: its names, type, bounds, default and help. The types of
// requests, the sampler's checks, the bodies of all APIs and their descriptions, the parameters of
// Modelfiles, the command line and the page read them here. Those of the sampler's filters are declared there.

import { FILTER_OPTIONS } from "../../kernels/mod.ts";

/** Types of options, by name. */
export interface OptionTypes {
  /** A finite number. */
  number: number;
  /** A whole number. */
  integer: number;
  /** True or false. */
  boolean: boolean;
  /** A text. */
  text: string;
  /** A list of texts. */
  texts: string[];
}

/** An option. */
export interface OptionInfo {
  /** Its name in Ollama's `options`, in Modelfiles and on the command line. */
  readonly name: string;
  /** What of it OpenAI's API calls otherwise; empty: it has no such member. Default: the same. */
  readonly openai?: string;
  /** Type of its values. */
  readonly type: keyof OptionTypes;
  /** What a number means that is missing; missing: `standard` says it. */
  readonly default?: number;
  /** Least value. */
  readonly minimum?: number;
  /** Greatest value; greater ones count as this one. */
  readonly maximum?: number;
  /** What holds without it, in words, where that is not `default`. */
  readonly standard?: string;
  /** Its name for people; missing: the page does not offer it. */
  readonly title?: string;
  /** What it does, as sentences without the default. */
  readonly help: string;
}

/**
 * How the next token is sampled: penalties, top_k, top_n_sigma, typical_p, top_p, min_p, XTC, temperature,
 * draw. Mirostat stands in the place of all between penalties and temperature. What a comment says of an
 * option is its help: editors show it at the members of SamplingOptions.
 */
export const SAMPLING_OPTIONS = {
  /**
   * How freely tokens are drawn: 0 always takes the likeliest. Default 0.8, in the APIs of OpenAI
   * and Anthropic 1.
   */
  temperature: {
    name: "temperature",
    type: "number",
    default: 0.8,
    standard: "0.8, in the APIs of OpenAI and Anthropic 1",
    minimum: 0,
    title: "Temperature",
    help: "How freely tokens are drawn: 0 always takes the likeliest.",
  },
  /** Only this many of the likeliest tokens may come; 0: all. Default 40. */
  topK: {
    name: "top_k",
    type: "integer",
    default: 40,
    title: "Top k",
    help: "Only this many of the likeliest tokens may come; 0: all.",
  },
  /**
   * Only the likeliest tokens that together reach this probability may come. Default 0.9, in the
   * APIs of OpenAI and Anthropic 1.
   */
  topP: {
    name: "top_p",
    type: "number",
    default: 0.9,
    standard: "0.9, in the APIs of OpenAI and Anthropic 1",
    minimum: 0,
    maximum: 1,
    title: "Top p",
    help: "Only the likeliest tokens that together reach this probability may come.",
  },
  ...FILTER_OPTIONS,
  /**
   * Version of Mirostat, 1 or 2, which chooses in the place of top_k, top_p and the other filters so that
   * tokens surprise as much as mirostat_tau; 0: off. Default 0.
   */
  mirostat: {
    name: "mirostat",
    type: "integer",
    default: 0,
    minimum: 0,
    title: "Mirostat",
    help:
      "Version of Mirostat, 1 or 2, which chooses in the place of top_k, top_p and the other filters so that " +
      "tokens surprise as much as mirostat_tau; 0: off.",
  },
  /** The surprise, in bits, near which Mirostat holds tokens. Default 5. */
  mirostatTau: {
    name: "mirostat_tau",
    type: "number",
    default: 5,
    minimum: 0,
    title: "Mirostat tau",
    help: "The surprise, in bits, near which Mirostat holds tokens.",
  },
  /** How fast Mirostat adapts to the surprise of tokens. Default 0.1. */
  mirostatEta: {
    name: "mirostat_eta",
    type: "number",
    default: 0.1,
    minimum: 0,
    title: "Mirostat eta",
    help: "How fast Mirostat adapts to the surprise of tokens.",
  },
  /** With one seed the answers are alike. Default a random one. */
  seed: {
    name: "seed",
    type: "integer",
    standard: "a random one",
    title: "Seed",
    help: "With one seed the answers are alike.",
  },
  /** Above 1, makes tokens that came lately less likely. Default 1. */
  repeatPenalty: {
    name: "repeat_penalty",
    openai: "repetition_penalty",
    type: "number",
    default: 1,
    minimum: 0,
    title: "Repeat penalty",
    help: "Above 1, makes tokens that came lately less likely.",
  },
  /** How many of the last tokens the penalties see; -1: the whole window. Default 64. */
  repeatLastN: {
    name: "repeat_last_n",
    openai: "",
    type: "integer",
    default: 64,
    minimum: -1,
    title: "Repeat window",
    help: "How many of the last tokens the penalties see; -1: the whole window.",
  },
  /** Taken once from the logit of each token that came lately. Default 0. */
  presencePenalty: {
    name: "presence_penalty",
    type: "number",
    default: 0,
    title: "Presence penalty",
    help: "Taken once from the logit of each token that came lately.",
  },
  /** Taken from a token's logit for each time that it came lately. Default 0. */
  frequencyPenalty: {
    name: "frequency_penalty",
    type: "number",
    default: 0,
    title: "Frequency penalty",
    help: "Taken from a token's logit for each time that it came lately.",
  },
} as const satisfies Record<string, OptionInfo>;

/** How much likelier or less likely single tokens are, beyond the penalties. */
export const TOKEN_OPTIONS = {
  /** Taken from a token that would continue a repetition, DRY; 0: nothing is. Default 0. */
  dryMultiplier: {
    name: "dry_multiplier",
    type: "number",
    default: 0,
    minimum: 0,
    title: "DRY multiplier",
    help: "Taken from a token that would continue a repetition, DRY; 0: nothing is.",
  },
  /** How much more DRY takes for each further token of a repetition, as a factor. Default 1.75. */
  dryBase: {
    name: "dry_base",
    type: "number",
    default: 1.75,
    minimum: 1,
    title: "DRY base",
    help: "How much more DRY takes for each further token of a repetition, as a factor.",
  },
  /** The longest repetition, in tokens, that DRY does not mind. Default 2. */
  dryAllowedLength: {
    name: "dry_allowed_length",
    type: "integer",
    default: 2,
    minimum: 1,
    title: "DRY allowed length",
    help: "The longest repetition, in tokens, that DRY does not mind.",
  },
  /** How many of the last tokens DRY sees; -1: the whole window. Default -1. */
  dryLastN: {
    name: "dry_penalty_last_n",
    type: "integer",
    default: -1,
    minimum: -1,
    title: "DRY window",
    help: "How many of the last tokens DRY sees; -1: the whole window.",
  },
  /** Texts after which nothing counts as repeated. Default a line break, :, " and *. */
  dryBreakers: {
    name: "dry_sequence_breakers",
    type: "texts",
    usual: ["\n", ":", '"', "*"],
    standard: 'a line break, :, " and *',
    title: "DRY breakers",
    help: "Texts after which nothing counts as repeated.",
  },
  /** Tokens before which the answer may not end, neither by its end token nor by stop_token_ids. Default 0. */
  minTokens: {
    name: "min_tokens",
    type: "integer",
    default: 0,
    minimum: 0,
    title: "Shortest answer",
    help:
      "Tokens before which the answer may not end, neither by its end token nor by stop_token_ids.",
  },
  /** Texts that may not come, as the vocabulary writes them at first, with and without a space before. Default none. */
  badWords: {
    name: "bad_words",
    type: "texts",
    standard: "none",
    title: "Bad words",
    help:
      "Texts that may not come, as the vocabulary writes them at first, with and without a space before.",
  },
} as const satisfies Record<string, OptionInfo & { usual?: readonly string[] }>;

/** The other options of an answer. */
export const ANSWER_OPTIONS = {
  maxTokens: {
    name: "num_predict",
    openai: "max_tokens",
    type: "integer",
    standard: "-1",
    minimum: -1,
    title: "Longest answer",
    help: "Most tokens of the answer; -1: up to its end.",
  },
  stop: {
    name: "stop",
    type: "texts",
    standard: "the model's own",
    title: "Stop texts",
    help: "Texts that end the answer where they would come.",
  },
  draftTokens: {
    name: "draft_num_predict",
    openai: "",
    type: "integer",
    standard: "what pays",
    minimum: 0,
    title: "Drafts",
    help: "Most tokens of a draft, which speeds an answer up and never changes it; 0: no drafts.",
  },
  thinkBudget: {
    name: "think_budget",
    openai: "",
    type: "integer",
    standard: "no limit",
    help: "Most tokens of thinking: then its end is put in, and the answer follows.",
  },
  ignoreEnd: {
    name: "ignore_eos",
    openai: "",
    type: "boolean",
    standard: "false",
    help: "Go on where the model ends, up to num_predict.",
  },
  includeStop: {
    name: "include_stop_str_in_output",
    type: "boolean",
    standard: "false",
    help: "Let the text end with the stop text that came.",
  },
  maxMilliseconds: {
    name: "t_max_predict_ms",
    type: "integer",
    standard: "no limit",
    help:
      "Milliseconds after the first token from which on the answer ends at a line break; 0 or less: no limit.",
  },
  openObjects: {
    name: "open_objects",
    openai: "",
    type: "boolean",
    standard: "false: only keys that it declares or allows, and objects where it declares some",
    help:
      "Let objects have keys, and values types, of which their schema says nothing, as JSON Schema has it.",
  },
} as const satisfies Record<string, OptionInfo>;

/** The options of a load, by the names of a request to a model elsewhere. */
export const LOAD_OPTIONS = {
  contextLength: {
    name: "num_ctx",
    openai: "",
    type: "integer",
    standard: "OLLAMA_CONTEXT_LENGTH, or as many as fit",
    minimum: 1,
    title: "Context window",
    help: "The context window in tokens.",
  },
  gpuLayers: {
    name: "num_gpu",
    openai: "",
    type: "integer",
    standard: "as many as fit",
    minimum: -1,
    title: "Layers on the GPU",
    help: "Layers on the GPU, the head counted as one; below 0, as many as fit.",
  },
  prefillChunk: {
    name: "num_batch",
    openai: "",
    type: "integer",
    standard: "the device's",
    help: "Most tokens of a prompt that are read in a step; 0 and below: the device's.",
  },
} as const satisfies Record<string, OptionInfo>;

/** All options that change something, by their names in the engine. */
export const OPTIONS:
  & typeof SAMPLING_OPTIONS
  & typeof TOKEN_OPTIONS
  & typeof ANSWER_OPTIONS
  & typeof LOAD_OPTIONS = {
    ...SAMPLING_OPTIONS,
    ...TOKEN_OPTIONS,
    ...ANSWER_OPTIONS,
    ...LOAD_OPTIONS,
  };

/** Types of parameters without effect here, because another program may run a model of the store. */
export const UNUSED_PARAMETERS = {
  tfs_z: "number",
  num_keep: "integer",
  num_thread: "integer",
  main_gpu: "integer",
  use_mmap: "boolean",
  use_mlock: "boolean",
  low_vram: "boolean",
  f16_kv: "boolean",
  logits_all: "boolean",
  vocab_only: "boolean",
  numa: "boolean",
  penalize_newline: "boolean",
} as const satisfies Record<string, keyof OptionTypes>;

/** An option's help with its default, for people. */
export function optionHelp({ help, standard, default: value }: OptionInfo): string {
  return `${help} Default ${standard ?? value}.`;
}
