// Members that nothing is read from, though the APIs that are spoken here have them, or servers that
// speak them as well: vLLM, SGLang, llama-server, LM Studio, OpenRouter, Together. Each has its reason:
// it changes nothing here, or it would, and may only have the value with which it does not. What is
// neither here nor in the schema of a route is refused.

import { harmless, list, only } from "../body/schema.ts";

const books = harmless("there is nobody to account to");
const caching = harmless("prompts that begin like earlier ones are always found");
const counting = harmless("answers always tell the counts of tokens");
const routing = harmless("this server is the only one that answers");
const speed = harmless("it could only change how fast the answer comes");
const names = harmless("the header x-request-id names a request");

/** Members for a vendor's books and machines, of requests in every API. */
const ofVendors = {
  user: books,
  safety_identifier: books,
  client_metadata: books,
  billing_policy: books,
  fallback_credit_token: books,
  user_profile_id: books,
  workspace_id: books,
  trace: books,
  custom_labels: books,
  cache_control: caching,
  prompt_cache_key: caching,
  prompt_cache_retention: caching,
  prompt_cache_options: caching,
  extra_key: caching,
  request_id: names,
  rid: names,
  session_id: names,
  chat_id: names,
  service_tier: {
    enum: ["auto", "default", "flex", "scale", "priority", "standard_only", null],
    description: "Accepted and without effect: there is one tier.",
  },
  inference_geo: harmless("models run where the server is"),
  provider: routing,
  route: routing,
  usage: counting,
  prediction: speed,
  cache_prompt: speed,
  id_slot: speed,
  n_cache_reuse: speed,
  speculative: speed,
  "speculative.n_max": speed,
  "speculative.n_min": speed,
  "speculative.p_min": speed,
  "speculative.type": speed,
  "speculative.ngram_size_n": speed,
  "speculative.ngram_size_m": speed,
  "speculative.ngram_min_hits": speed,
  backend_sampling: speed,
  stream_interval: speed,
  sse_ping_interval: speed,
  verbose: harmless("the log of the server has what there is to tell"),
  reasoning_control: harmless("POST /api/requests/{id}/answer ends the thinking of any request"),
  return_mm_kwargs: harmless("it is about requests that run nothing"),
  mm_processor_kwargs: harmless("images are read as the model was trained to"),
  media_io_kwargs: harmless("images are read as the model was trained to"),
  vllm_xargs: harmless("there are no extensions that would read it"),
  guided_decoding_backend: harmless("there is one compiler of formats"),
} as const;

const notSampled = "there is no such sampler";
const asked = "an answer is made of the likeliest tokens as they are drawn, by the other samplers";

/** `stream` of requests whose answer is one object. */
export const streamOfOne = harmless("the answer is one object");

/** Members by which other servers sample, and that are not available. */
export const samplers = {
  tfs_z: only([1], notSampled),
  top_a: only([0], notSampled),
  min_keep: only([0], asked),
  penalize_newline: only([true], "penalties see line breaks like other tokens"),
} as const;

const oneAnswer = "there is one answer to each prompt";
const toldOtherwise = "the answer does not tell of that";
const special = "special tokens are never part of a text";
const byParser = "the model's template tells how its calls are written";
const elsewhere = "one server reads the prompt and writes the answer";

/** Members about the answer that are not available. */
const ofAnswers = {
  n: only([1], oneAnswer),
  best_of: only([1], "completions have it"),
  use_beam_search: only([], oneAnswer),
  length_penalty: only([1], "it goes with beam search"),
  early_stopping: only([], "it goes with beam search"),
  custom_logit_processor: only([], "no code of a request is run"),
  stop_regex: only([], "answers are ended by texts; use stop"),
  skip_special_tokens: only([true], special),
  spaces_between_special_tokens: only([true], special),
  detokenize: only([true], "answers are texts"),
  repetition_detection: only([], "answers end where the model ends them"),
  prompt_logprobs: only([], "completions have it"),
  logprob_token_ids: only([], "use the likeliest tokens instead"),
  n_probs: only([0], "use logprobs instead"),
  post_sampling_probs: only([], toldOtherwise),
  timings_per_token: only([], toldOtherwise),
  return_tokens: only([], toldOtherwise),
  response_fields: only([], "answers are whole"),
  truncate_prompt_tokens: only([-1], "a prompt that does not fit is refused; truncate drops turns"),
  t_max_prompt_ms: only([0, -1], "a prompt is read to its end"),
  n_discard: only([0], "a window that is full ends the answer"),
  n_keep: harmless("whole turns are left out of a prompt, and never the first system message"),
  priority: only([0], "requests are answered in the order in which they come"),
  models: only([], "name one model"),
  moderation: only([], "nothing is moderated here"),
  plugins: only([], "tools run at the client"),
  transforms: only([], "use truncate"),
  context_length_exceeded_behavior: harmless("an answer that reaches the window ends there"),
  cache_salt: only([], "prompts that begin alike share the cache, whoever asks"),
  kv_transfer_params: only([], elsewhere),
  ec_transfer_params: only([], elsewhere),
  echo: only([], "completions have it"),
  add_special_tokens: only([], "the template has those that the model wants"),
  chat_template: only([], "create a model with it, by TEMPLATE in a Modelfile"),
  truncation_side: only(["left"], "what comes first is left out, by truncate"),
  return_token_ids: only([], "POST /tokenize has the ids"),
  return_tokens_as_token_ids: only([], "POST /tokenize has the ids"),
  return_token_offsets: harmless("it is about requests that run nothing"),
  return_prompt_text: only([], "POST /apply-template has the prompt"),
  routed_experts_prompt_start: harmless("it goes with experts that are told, and none are"),
  n_cmpl: only([1], "use n, where the API has several answers"),
  n_indent: only([0], "lines are indented as the model likes; use a grammar"),
  adaptive_target: only([-1], "there is no such sampler; use mirostat"),
  adaptive_decay: harmless("it goes with adaptive_target"),
  grammar_lazy: only([], "a grammar holds from the first token; tools have grammars of their own"),
  grammar_triggers: only([], "a grammar holds from the first token"),
  grammar_type: only(["user"], byParser),
  preserved_tokens: harmless("a grammar may name every token"),
  chat_format: only([0], byParser),
  chat_parser: only([], byParser),
  generation_prompt: only([], byParser),
  parse_tool_calls: only([true], byParser),
  reasoning_budget_message: only([], "the end of thinking is that of the model"),
  watermarking: only([], "answers have no watermark"),
} as const;

/** The members of requests that run a model, in every API. */
export const unreadInRequests = { ...ofVendors, ...samplers, ...ofAnswers } as const;

/** The members of `options` in requests, which are Ollama's. */
export const unreadInOptions = {
  ...samplers,
  num_keep: ofAnswers.n_keep,
  num_thread: speed,
  num_gqa: speed,
  main_gpu: speed,
  low_vram: speed,
  f16_kv: speed,
  use_mmap: speed,
  use_mlock: speed,
  numa: speed,
  vocab_only: only([], "models are loaded whole"),
  logits_all: only([], toldOtherwise),
  embedding_only: only([], "models are loaded whole"),
} as const;

const echoed = harmless("clients repeat it from an answer");

/** Members of messages, calls and their parts, most of which clients repeat from an answer. */
export const unreadInTurns = {
  id: echoed,
  index: echoed,
  status: echoed,
  phase: echoed,
  created_at: echoed,
  timestamp: echoed,
  metadata: echoed,
  annotations: echoed,
  citations: echoed,
  logprobs: echoed,
  encrypted_content: echoed,
  signature: echoed,
  caller: echoed,
  reasoning_details: echoed,
  thinking_blocks: echoed,
  extra_content: echoed,
  provider_specific_fields: echoed,
  response_metadata: echoed,
  usage_metadata: echoed,
  finish_reason: echoed,
  stop_reason: echoed,
  audio: only([], "sounds are not read"),
  function_call: only([], "use tool_calls"),
  cache_control: caching,
  prompt_cache_breakpoint: caching,
  detail: harmless("images are read as finely as the model can"),
} as const;

/** Members of tools. */
export const unreadInTools = {
  cache_control: caching,
  defer_loading: harmless("the model sees every tool from the beginning"),
  eager_input_streaming: harmless("arguments always come as they are made"),
  allowed_callers: {
    ...list({ enum: ["direct"] }),
    description: "Accepted and without effect: the model calls tools itself.",
  },
  async: only([], "a call is answered before the conversation goes on"),
  output_schema: harmless("results are shown to the model as they are"),
  input_examples: only([], "put them into the description"),
} as const;
