// Members that nothing is read from: what asks for something is refused, by its name and at any depth,
// and what asks for nothing passes, on every route. wishes_test.ts has what is read.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { createTestApp } from "../../test_app.ts";
import { unreadInRequests } from "../../../../server/http/api/unread_members.ts";
import { able, ANSWERING, ask } from "./routes_of_answers.ts";

const WISHES: [name: string, value: unknown, sentence: string][] = [
  // Misspelled ones.
  ["temprature", 0, 'temprature is not known here: did you mean "temperature"?'],
  ["keep_alve", "5m", 'keep_alve is not known here: did you mean "keep_alive"?'],
  ["tone", "kind", "tone is not known here"],
  ["x".repeat(500), 1, `${"x".repeat(60)}… (500 characters) is not known here`],
  // What other servers have.
  [
    "logit_bias",
    [[5, "x"]],
    "logit_bias must have token ids, or texts, each with a number or false",
  ],
  ["logit_bias", [5], "logit_bias"],
  // Some APIs have it, up to a bound.
  ["n", 300, "n"],
  ["use_beam_search", true, "use_beam_search must be empty"],
  ["skip_special_tokens", false, "skip_special_tokens must be true"],
  ["truncate_prompt_tokens", 10, "truncate_prompt_tokens must be -1"],
  ["priority", 1, "priority must be 0"],
  ["tfs_z", 0.5, "tfs_z must be 1"],
  ["samplers", ["top_k", "adaptive_p"], 'samplers: there is no sampler "adaptive_p"'],
  ["samplers", ["temperature", "top_k"], "samplers: their order is fixed: penalties, dry"],
  ["adaptive_target", 0.5, "adaptive_target must be -1: there is no such sampler"],
  ["reasoning_format", "deepseek-legacy", "reasoning_format must be one of"],
  ["guided_whitespace_pattern", " *", "guided_whitespace_pattern must be empty"],
  ["cache_salt", "x", "cache_salt must be empty: prompts that begin alike share"],
  ["kv_transfer_params", { a: 1 }, "kv_transfer_params must be empty: one server"],
  ["service_tier", "fast", "service_tier must be one of auto, default"],
  ["options", { tfs_z: 0.5 }, 'option "tfs_z" must be 1'],
  ["options", { temprature: 1 }, 'option "temprature" is not known here: did you mean "temp'],
  [
    "structured_outputs",
    { structural_tag: "x" },
    "structured_outputs.structural_tag must be empty",
  ],
  ["structured_outputs", { jsn: {}, regexp: "a" }, "structured_outputs.regexp is not known here"],
  ["response_format", { type: "structural_tag" }, "response_format.type must be one of"],
  [
    "response_format",
    { type: "json_object", scheme: { a: 1 } },
    "response_format.scheme is not known",
  ],
];

/** Members that ask for nothing, because they are as they would be without them. */
const NEUTRAL: object = {
  n: 1,
  best_of: 1,
  logit_bias: {},
  stop: null,
  prompt_logprobs: null,
  stop_token_ids: [],
  bad_words: [],
  min_tokens: 0,
  use_beam_search: false,
  length_penalty: 1,
  skip_special_tokens: true,
  spaces_between_special_tokens: true,
  mirostat: 0,
  mirostat_tau: 5,
  typical_p: 1,
  tfs_z: 1,
  dry_multiplier: 0,
  dry_base: 1.75,
  xtc_probability: 0,
  ignore_eos: false,
  structured_outputs: null,
  guided_json: null,
  guided_choice: [],
  grammar: "",
  regex: null,
  reasoning_effort: null,
  thinking_budget: null,
  chat_template_kwargs: {},
  chat_template: null,
  response_format: { type: "text" },
  priority: 0,
  include_stop_str_in_output: false,
  t_max_predict_ms: -1,
  samplers: [],
  documents: [],
  separate_reasoning: true,
  reasoning_format: "deepseek",
  adaptive_target: -1,
  adaptive_decay: 0.9,
  n_indent: 0,
  n_cmpl: 1,
  parse_tool_calls: true,
  never_heard_of: null,
  never_heard_of_that: false,
  nor_of_this: [],
  nor_of_that: {},
  nor_of_those: "",
};

/** Members for the books of others, which hold whatever they are. */
const HARMLESS: object = {
  user: "u",
  safety_identifier: "s",
  metadata: { a: "b" },
  service_tier: "priority",
  prompt_cache_key: "k",
  prompt_cache_retention: "24h",
  cache_control: { type: "ephemeral" },
  request_id: "r",
  session_id: "s",
  provider: { sort: "price" },
  usage: { include: true },
  prediction: { type: "content", content: "x" },
  cache_prompt: true,
  id_slot: 3,
  "speculative.type": "none",
  "speculative.ngram_size_n": 12,
  backend_sampling: true,
  vllm_xargs: { a: 1 },
  mm_processor_kwargs: { a: 1 },
};

for (const path of Object.keys(ANSWERING)) {
  Deno.test(`a member that asks for what there is not is refused by its name on ${path}`, async () => {
    for (const [name, value, sentence] of WISHES) {
      const { status, message, param, request } = await ask(path, { [name]: value });
      assertEquals([name, status, request], [name, 400, undefined]);
      assertStringIncludes(message!, sentence);
      // The member at fault begins the sentence, and stands by itself where the API tells it.
      const isOption = name === "options";
      if (!isOption) assert(message!.startsWith(name.slice(0, 60)), message);
      if (param) assert(param.startsWith(name.slice(0, 60)), param);
      else assert(!path.startsWith("/v1/") || path === "/v1/messages", `${name} on ${path}`);
    }
  });

  Deno.test(`members that ask for nothing are never refused on ${path}`, async () => {
    for (const [name, value] of [...Object.entries(NEUTRAL), ...Object.entries(HARMLESS)]) {
      const { status, message } = await ask(path, { [name]: value });
      assertEquals([name, status, message], [name, 200, undefined]);
    }
    const all = await ask(path, {
      ...NEUTRAL,
      ...HARMLESS,
      options: { mirostat: 0, num_thread: 8 },
    });
    assertEquals([all.status, all.body.warnings], [200, undefined]);
  });
}

/** The chats, with a message that has such members. */
function withMessage(members: object): [path: string, body: object][] {
  const message = { role: "user", content: "Hi", ...members };
  return [
    ["/api/chat", { messages: [message] }],
    ["/v1/chat/completions", { messages: [message] }],
    ["/v1/responses", { input: [message] }],
    ["/v1/messages", { messages: [message] }],
  ];
}

Deno.test("members of messages are refused too, and those that clients repeat are not", async () => {
  for (const [path, body] of withMessage({ foo: "bar" })) {
    const { status, message } = await ask(path, body);
    const list = path === "/v1/responses" ? "input" : "messages";
    assertEquals([path, status, message], [path, 400, `${list}[0].foo is not known here`]);
  }
  const repeated = {
    id: "m1",
    annotations: [],
    audio: null,
    function_call: null,
    refusal: null,
    metadata: { a: 1 },
    status: "completed",
    index: 0,
    provider_specific_fields: { x: 1 },
    foo: null,
  };
  for (const [path, body] of withMessage(repeated)) {
    assertEquals([path, (await ask(path, body)).status], [path, 200]);
  }
});

const parameters = { type: "object", properties: { city: { type: "string" } } };

const NESTED: [path: string, body: object, sentence: string][] = [
  [
    "/v1/chat/completions",
    { stream_options: { include_usage: true, include_ping: true } },
    "stream_options.include_ping is not known here",
  ],
  [
    "/v1/chat/completions",
    { stream_options: { continuous_usage_stats: true } },
    "stream_options.continuous_usage_stats must be empty",
  ],
  [
    "/v1/chat/completions",
    { tools: [{ type: "function", function: { name: "f", parameters, strickt: true } }] },
    'tools[0].function.strickt is not known here: did you mean "strict"?',
  ],
  [
    "/v1/chat/completions",
    { tools: [{ type: "function", strict: true, function: { name: "f", parameters } }] },
    'tools[0].strict is not known here: it belongs into "function"',
  ],
  [
    "/v1/chat/completions",
    { messages: [{ role: "user", content: [{ type: "text", text: "Hi", bold: true }] }] },
    "messages[0].content[0].bold is not known here",
  ],
  [
    "/v1/chat/completions",
    { response_format: { type: "json_schema", json_schema: { schema: {}, lazy: true } } },
    "response_format.json_schema.lazy is not known here",
  ],
  ["/v1/chat/completions", { reasoning: { depth: 3 } }, "reasoning.depth is not known here"],
  ["/v1/chat/completions", { verbosity: "loud" }, "verbosity must be one of low, medium, high"],
  ["/v1/chat/completions", { modalities: ["text", "audio"] }, "modalities[1] must be one of text"],
  [
    "/v1/responses",
    { text: { format: { type: "text" }, verbosity: "loud" } },
    "text.verbosity must",
  ],
  [
    "/v1/responses",
    { text: { format: { type: "text", x: 1 } } },
    "text.format.x is not known here",
  ],
  ["/v1/responses", { include: ["message.output_text.logits"] }, "include[0] must be one of"],
  ["/v1/responses", { top_logprobs: 21 }, "top_logprobs must be between 0 and 20"],
  [
    "/v1/completions",
    { chat_template_kwargs: { a: 1 } },
    "chat_template_kwargs: this prompt is not",
  ],
  ["/v1/completions", { documents: [{ text: "a" }] }, "documents: this prompt is not laid out"],
  ["/v1/responses", { prompt: { id: "p" } }, "prompt: prompts are not stored"],
  [
    "/v1/responses",
    { tools: [{ type: "function", name: "f", parameters, async: true }] },
    "tools[0].async must be empty",
  ],
  [
    "/v1/messages",
    { thinking: { type: "enabled", budget_tokens: 9, depth: 2 } },
    "thinking.depth is not known here",
  ],
  ["/v1/messages", { output_config: { style: "x" } }, "output_config.style is not known here"],
  [
    "/v1/messages",
    { context_management: { edits: [{ type: "clear_tool_uses_20250919" }] } },
    "context_management.edits[0].type must be one of clear_thinking_20251015",
  ],
  ["/v1/messages", { fallbacks: ["x"] }, "fallbacks is not known here"],
  [
    "/v1/messages",
    { tools: [{ name: "f", input_schema: parameters, input_examples: [{ city: "Bern" }] }] },
    "tools[0].input_examples must be empty: put them into the description",
  ],
  [
    "/v1/messages",
    { tools: [{ type: "web_search_20250305", name: "web_search", max_uses: 5 }] },
    'tool "web_search" is of type "web_search_20250305": only custom tools are supported',
  ],
  [
    "/api/chat",
    { messages: [{ role: "user", content: "Hi", images: [], videos: ["x"] }] },
    "messages[0].videos is not known here",
  ],
];

Deno.test("what asks for something is refused at any depth, with the way to it", async () => {
  for (const [path, body, sentence] of NESTED) {
    const { status, message, request } = await ask(path, body);
    assertEquals([path, status, request], [path, 400, undefined]);
    assertStringIncludes(message!, sentence);
  }
});

Deno.test("a model that is not there is told before a member that is not known", async () => {
  const { status } = await ask("/v1/chat/completions", { model: "nope", temprature: 1 });
  assertEquals(status, 404);
});

const OTHERS: [method: string, path: string, body: object, status: number, sentence: string][] = [
  ["POST", "/api/embed", { input: "x", dimension: 3 }, 400, 'did you mean "dimensions"?'],
  ["POST", "/api/embeddings", { prompt: "x", input_type: "query" }, 400, "input_type is not known"],
  ["POST", "/v1/embeddings", { input: "x", input_type: "query" }, 400, "input_type must be empty"],
  ["POST", "/v1/embeddings", { input: "x", task: "retrieval.query" }, 400, "task must be empty"],
  ["POST", "/v1/embeddings", { input: "x", output_dtype: "int8" }, 400, "output_dtype must be"],
  ["POST", "/v1/embeddings", { input: "x", normalized: false }, 400, "normalized must be true"],
  ["POST", "/v1/embeddings", { input: "x", normalized: true, output_dtype: "float" }, 200, ""],
  ["POST", "/api/embed", { input: "x", stream: true, user: "u" }, 200, ""],
  [
    "POST",
    "/embed",
    { inputs: ["x", "y"], normalize: true, truncate: true },
    200,
    "[[1,0.100000001,0.200000003],[1,",
  ],
  ["POST", "/embed", { inputs: "x", normalize: false }, 400, "normalize must be true"],
  ["POST", "/embed", { inputs: [] }, 400, "inputs is missing"],
  ["POST", "/api/show", { verbos: true }, 400, 'verbos is not known here: did you mean "verbose"?'],
  ["POST", "/api/create", { modelfile: "FROM a" }, 400, "modelfile must be empty: send its"],
  ["POST", "/api/create", { from: "tiny", quantise: "q8_0" }, 400, 'did you mean "quantize"?'],
  ["POST", "/api/copy", { source: "a", destination: "b", force: true }, 400, "force is not known"],
  ["DELETE", "/api/delete", { force: true }, 400, "force is not known here"],
  ["POST", "/api/pull", { username: "me", password: "x" }, 400, "username must be empty"],
  ["POST", "/api/tokenize", { text: "x", add_special: true }, 400, "add_special is not known here"],
  [
    "POST",
    "/api/plan",
    { num_ctx: 5 },
    400,
    'num_ctx is not known here: it belongs into "options"',
  ],
];

Deno.test("the routes that answer nothing refuse what they do not know as well", async () => {
  for (const [method, path, asked, status, sentence] of OTHERS) {
    const { app } = createTestApp({ info: { isEmbeddingModel: true } });
    const body = JSON.stringify({ ...(path !== "/api/copy" && { model: "tiny" }), ...asked });
    const response = await app.request(path, { method, body });
    const text = await response.text();
    assertEquals([path, response.status], [path, status], text);
    assertStringIncludes(text.replaceAll('\\"', '"'), sentence);
  }
});

Deno.test("every member without effect says why", () => {
  for (const [name, { description }] of Object.entries(unreadInRequests)) {
    assert(/^(Accepted and without effect|Must be .+): \w.+\.$/.test(description), name);
  }
});

Deno.test("a request with all that a model's answer has is taken again", async () => {
  const path = "/v1/chat/completions";
  const { body: { choices: [{ message, finish_reason }] } } = await ask(
    path,
    {},
    createTestApp(able),
  );
  const turns = [{ role: "user", content: "Hi" }, { ...message, finish_reason }];
  const again = await ask(path, { messages: [...turns, { role: "user", content: "Go on" }] });
  assertEquals([again.status, again.message], [200, undefined]);
});
