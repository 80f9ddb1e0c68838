// What the page reads of the server's answers; /openapi.json describes all of them.

/** A token and how likely it was. */
export interface TokenProbability {
  token: string;
  logprob: number;
  bytes: number[];
}

/** A token of an answer, and the likeliest ones in its place. */
export interface TokenLogprob extends TokenProbability {
  top_logprobs: TokenProbability[];
  mask?: TokenMask;
}

/** What a format allowed in the place of a token. */
export interface TokenMask {
  /** How many tokens might have come. */
  allowed: number;
  /** How many there are. */
  vocabulary: number;
  /** Text that had to come next whatever the model would say; missing where there was a choice. */
  forced?: string;
  /** JSON pointers to the parts of a schema in force there, the outermost first. */
  pointers?: string[];
  /** Where the parts of a pattern or grammar in force there stand, in UTF-16 units. */
  spans?: [start: number, end: number][];
  top_allowed: TokenProbability[];
  top_forbidden: TokenProbability[];
}

export interface ToolCall {
  id?: string;
  function: { name: string; arguments: Record<string, unknown> };
}

/** Counts and times of the last record of an answer; times in nanoseconds, missing where zero. */
export interface AnswerCounts {
  total_duration?: number;
  load_duration?: number;
  prompt_eval_count?: number;
  prompt_cached_count?: number;
  prompt_eval_duration?: number;
  eval_count?: number;
  eval_duration?: number;
  draft_n?: number;
  draft_accepted?: number;
  dropped_messages?: number;
  dropped_indexes?: number[];
}

/** A line of a streamed answer of /api/chat or /api/generate. */
export interface AnswerRecord extends AnswerCounts {
  message?: { content: string; thinking?: string; tool_calls?: ToolCall[] };
  response?: string;
  thinking?: string;
  done: boolean;
  done_reason?: string;
  queued_ahead?: number;
  logprobs?: TokenLogprob[];
  _debug_info?: { rendered_template: string };
}

/** Facts of a model. */
export interface ModelDetails {
  family: string;
  parameter_size: string;
  quantization_level: string;
  context_length: number;
}

/** A model of this machine. */
export interface Model {
  name: string;
  size: number;
  digest: string;
  modified_at: string;
  details: ModelDetails;
  capabilities: string[];
  remote_host?: string;
}

/** A model in memory. */
export interface LoadedModel {
  name: string;
  size: number;
  size_vram: number;
  expires_at: string;
  context_length: number;
  loading?: { completed: number; total: number };
  /** A device that is not used for it, and what it computes wrongly. */
  refused_device?: { name: string; faults: string[] };
}

/** What is known of a model. */
export interface ShownModel {
  modelfile: string;
  template?: string;
  template_language?: "go";
  system?: string;
  messages?: { role: string; content: string }[];
  parameters?: string;
  license?: string;
  details: ModelDetails;
  capabilities: string[];
  model_info?: Record<string, unknown>;
  files?: { kind: string; digest: string; size: number }[];
}

/** How far a pull or a creation is. */
export interface ProgressRecord {
  status: string;
  digest?: string;
  total?: number;
  completed?: number;
}
