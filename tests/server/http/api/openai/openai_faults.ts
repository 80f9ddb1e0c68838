// Requests of OpenAI's API that cannot be answered: a part of the sentence that says why, and the member
// at fault, for openai_errors_test.ts.

import { messages, weather } from "./openai_scripts.ts";

/** Path of chat completions. */
export const chat = "/v1/chat/completions";
/** Path of completions. */
export const completions = "/v1/completions";
/** Path of responses. */
export const responses = "/v1/responses";
/** Model that all faults are asked of. */
export const model = "tiny";

/** What is wrong with a request: its path and body, a part of the sentence, the member at fault. */
export type Fault = [path: string, body: unknown, sentence: string, param?: string | null];

/** A message with such members. */
function said(members: Record<string, unknown>): unknown {
  return { model, messages: [{ role: "user", ...members }] };
}

/** A message with one part. */
function part(members: Record<string, unknown>): unknown {
  return said({ content: [members] });
}

/** A call of such arguments. */
function called(json: unknown): unknown {
  const call = { id: "c", function: { name: "f", arguments: json } };
  return { model, messages: [{ role: "assistant", tool_calls: [call] }] };
}

const content = "messages[0].content[0]";
const args = "messages[0].tool_calls[0].function.arguments";

/** Of chat completions. */
export const chatFaults: Fault[] = [
  [chat, "", "missing request body"],
  [chat, "{x", "invalid JSON"],
  [
    chat,
    { model, messages, continue_final_message: true, add_generation_prompt: true },
    "exclude each other",
    "add_generation_prompt",
  ],
  [
    chat,
    { model, messages, add_generation_prompt: false },
    "needs a message to continue",
    "add_generation_prompt",
  ],
  [chat, [], "request body must be of type object"],
  [chat, { messages }, "model is required"],
  [chat, { model: "", messages }, "model is required"],
  [chat, { model: 5, messages }, "model must be of type string", "model"],
  [chat, { model: "a b", messages }, "invalid model name"],
  [chat, { model: "x:cloud:local", messages }, "use either :local or :cloud, not both"],
  [chat, { model }, "[] is too short - 'messages'", "messages"],
  [chat, { model, messages: null }, "[] is too short - 'messages'", "messages"],
  [chat, { model, messages: [] }, "[] is too short - 'messages'", "messages"],
  [chat, { model, messages: "Hi" }, "messages must be of type array", "messages"],
  [chat, { model, messages: [{}] }, 'messages[0] lacks "role"', "messages[0]"],
  [chat, { model, messages: [{ role: "bot" }] }, "messages[0].role must be one of system"],
  [chat, said({ content: 1 }), "messages[0].content must be of type string or array"],
  [chat, said({ content: [{}] }), `${content} lacks "type"`, content],
  [chat, said({ content: ["x"] }), `${content} must be of type object`, content],
  [
    chat,
    part({ type: "image_url", image_url: { url: "https://x/y.png" } }),
    "image URLs are not currently supported, please use base64 encoded data instead",
    content,
  ],
  [
    chat,
    part({ type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } }),
    '"tiny" does not support image input',
    content,
  ],
  [chat, part({ type: "image_url" }), '"tiny" does not support image input', content],
  [chat, part({ type: "input_file" }), `${content}: parts of type "input_file"`, content],
  [chat, part({ type: "input_audio" }), `${content} lacks "input_audio"`, content],
  [chat, part({ type: "file" }), `${content}: parts of type "file" are not supported`, content],
  [chat, called("{x"), `${args}: invalid JSON`, args],
  [chat, called("[]"), `${args} must be the JSON text of an object`, args],
  [chat, called(5), `${args} must be of type string or object`, args],
  [chat, { model, messages, stream: "no" }, "stream must be of type boolean", "stream"],
  [chat, { model, messages, temperature: "hot" }, "temperature must be of type number"],
  [chat, { model, messages, max_tokens: 1.5 }, "max_tokens must be of type integer", "max_tokens"],
  [chat, { model, messages, stop: [1] }, "stop[0] must be of type string", "stop[0]"],
  [chat, { model, messages, n: 257 }, "n: at most 256 answers", "n"],
  [chat, { model, messages, n: 0 }, "n must be at least 1", "n"],
  [chat, { model, messages, top_logprobs: 3 }, "needs logprobs to be true", "top_logprobs"],
  [
    chat,
    { model, messages, logprobs: true, top_logprobs: 21 },
    "top_logprobs must be between 0 and 20",
    "top_logprobs",
  ],
  [
    chat,
    { model, messages, top_logprobs: -1 },
    "top_logprobs must be between 0 and 20",
    "top_logprobs",
  ],
  [
    chat,
    { model, messages, logit_bias: { 5: "x" } },
    "logit_bias must have token ids",
    "logit_bias",
  ],
  [
    chat,
    { model, messages, prompt_logprobs: 1 },
    "prompt_logprobs must be empty",
    "prompt_logprobs",
  ],
  [chat, { model, messages, functions: [{}] }, "functions: use tools instead", "functions"],
  [chat, { model, messages, audio: {} }, "audio is not supported", "audio"],
  [chat, { model, messages, web_search_options: {} }, "web_search_options is not supported"],
  [chat, { model, messages, tools: [weather] }, '"tiny" does not support tools', "tools"],
  [chat, { model, messages, tools: [{ type: "function" }] }, 'tools[0] lacks "function"', "tools"],
  [chat, { model, messages, tools: [{}] }, 'tools[0] lacks "function"', "tools"],
  ...["custom", "web_search", "mcp"].map((type): Fault => [
    chat,
    { model, messages, tools: [{ type, function: { name: "f" } }] },
    `tools[0] is of type "${type}"`,
    "tools",
  ]),
  [chat, { model, messages, tools: [{ function: {} }] }, 'tools[0].function lacks "name"'],
  [chat, { model, messages, tool_choice: "any" }, "tool_choice must be", "tool_choice"],
  [chat, { model, messages, tool_choice: {} }, "tool_choice must be", "tool_choice"],
  [
    chat,
    { model, messages, tool_choice: "required" },
    "tool_choice: required, but there are no tools",
    "tool_choice",
  ],
  [
    chat,
    { model, messages, tool_choice: { type: "function", function: { name: "f" } } },
    'tool_choice: no tool is named "f"',
    "tool_choice",
  ],
  [
    chat,
    { model, messages, response_format: { type: "xml" } },
    "response_format.type must be one of text, json_object, json_schema",
    "response_format.type",
  ],
  [chat, { model, messages, response_format: {} }, 'response_format lacks "type"'],
  [
    chat,
    { model, messages, response_format: { type: "json_schema" } },
    'response_format of type json_schema lacks "schema"',
    "response_format",
  ],
  [
    chat,
    { model, messages, reasoning_effort: "low" },
    '"tiny" does not support thinking',
    "reasoning_effort",
  ],
  [
    chat,
    { model, messages, reasoning_effort: "hard" },
    'invalid reasoning value: "hard" (must be one of "none", "minimal", "low", "medium", "high"',
    "reasoning_effort",
  ],
  [chat, { model, messages, options: { seed: "x" } }, 'option "seed" must be of type integer'],
  [chat, { model, messages, options: [] }, "options must be of type object", "options"],
  [chat, { model, messages, keep_alive: "soon" }, 'keep_alive: time: invalid duration "soon"'],
  [chat, { model, messages, keep_alive: true }, "keep_alive must be of type string or number"],
];

/** Input of a response. */
export const input = "Hi";
const item = "input[0]";

/** Of completions and responses. */
export const otherFaults: Fault[] = [
  [completions, { prompt: "x" }, "model is required"],
  [completions, { model }, "prompt must be a text, token ids, or a list of either", "prompt"],
  [completions, { model, prompt: [] }, "prompt must be", "prompt"],
  [completions, { model, prompt: [[]] }, "prompt must be", "prompt"],
  [completions, { model, prompt: [1.5] }, "prompt must be", "prompt"],
  [completions, { model, prompt: [["x"]] }, "prompt must be", "prompt"],
  [completions, { model, prompt: {} }, "prompt must be", "prompt"],
  [completions, { model, prompt: Array(257).fill("x") }, "prompt: at most 256", "prompt"],
  [completions, { model, prompt: "x", suffix: "y" }, '"tiny" does not support insert', "suffix"],
  [completions, { model, prompt: ["x", "y"], n: 129 }, "n: at most 256 answers", "n"],
  [completions, { model, prompt: "x", n: -1 }, "n must be at least 1", "n"],
  [completions, { model, prompt: "x", n: 3, best_of: 2 }, "best_of must be at least n", "best_of"],
  [
    completions,
    { model, prompt: "x", best_of: 2, stream: true },
    "best_of: answers can",
    "best_of",
  ],
  [completions, { model, prompt: "x", best_of: 257 }, "n: at most 256 answers", "n"],
  [completions, { model, prompt: "x", logprobs: 21 }, "between 0 and 20", "logprobs"],
  [completions, { model, prompt: "x", logprobs: -1 }, "between 0 and 20", "logprobs"],
  [
    completions,
    { model, prompt: "x", logprobs: 0, echo: true, raw: false },
    "echo: log-prob",
    "echo",
  ],
  [completions, { model, prompt: "x", prompt_logprobs: 21 }, "between 0 and 20", "prompt_logprobs"],
  [completions, { model, prompt: "x", prompt_logprobs: 1, raw: false }, "prompt_logprobs: log"],
  [responses, { input }, "model is required"],
  [responses, { model }, "input is required", "input"],
  [responses, { model, input: [] }, "input is required", "input"],
  [responses, { model, input: 5 }, "input must be of type string or array", "input"],
  [responses, { model, input: [{ role: "bot" }] }, `${item}.role must be one of system`, item],
  [responses, { model, input: [{ type: "item_reference" }] }, `${item} lacks "id"`, item],
  [responses, { model, input: [{ type: "shell_call" }] }, 'type "shell_call" are', item],
  [
    responses,
    { model, input: [{ role: "user", content: [{ type: "input_image" }] }] },
    '"tiny" does not support image input',
    `${item}.content[0]`,
  ],
  [
    responses,
    { model, input: [{ role: "user", content: [{ type: "input_file" }] }] },
    'parts of type "input_file" are not supported',
    `${item}.content[0]`,
  ],
  [responses, { model, input: [{ type: "function_call" }] }, `${item} lacks "name"`, item],
  [
    responses,
    { model, input: [{ type: "function_call", name: "f", arguments: "x" }] },
    `${item}.arguments: invalid JSON`,
    `${item}.arguments`,
  ],
  [responses, { model, input, conversation: {} }, 'conversation lacks "id"', "conversation"],
  [responses, { model, input, conversation: 7 }, "conversation must be", "conversation"],
  [responses, { model, input, prompt: { id: "p" } }, "prompts are not stored", "prompt"],
  [responses, { model, input, background: "yes" }, "background must be", "background"],
  [responses, { model, input, tools: [{ type: "custom" }] }, 'tools[0] lacks "name"', "tools"],
  [
    responses,
    { model, input: [{ type: "compaction_trigger" }, { role: "user", content: "Hi" }] },
    "a compaction_trigger is the last item",
    item,
  ],
  [
    responses,
    { model, input: [{ type: "compaction", encrypted_content: "gAAAA" }] },
    "is no compaction of this server",
    `${item}.encrypted_content`,
  ],
  [`${responses}/compact`, { model, input, stream: true }, "stream: a compaction", "stream"],
  [`${responses}/compact`, { model }, "input is required", "input"],
  [responses, { model, input, tools: [{ type: "function" }] }, 'tools[0] lacks "name"', "tools"],
  [responses, { model, input, tools: [{ type: "namespace" }] }, 'tools[0] lacks "name"', "tools"],
  [
    responses,
    { model, input, tools: [{ type: "function", name: "f" }] },
    '"tiny" does not support tools',
    "tools",
  ],
  [
    responses,
    { model, input, tool_choice: { type: "web_search" } },
    "tool_choice must be",
    "tool_choice",
  ],
  [
    responses,
    { model, input, text: { format: { type: "json_schema", name: "x" } } },
    'text.format of type json_schema lacks "schema"',
    "text.format",
  ],
  [responses, { model, input, text: { format: { type: "yaml" } } }, "text.format.type must be"],
  [
    responses,
    { model, input, reasoning: { effort: "high" } },
    '"tiny" does not support thinking',
    "reasoning.effort",
  ],
  [responses, { model, input, truncation: "some" }, "truncation must be one of auto, disabled"],
  [
    responses,
    { model, input, top_logprobs: 21 },
    "top_logprobs must be between 0 and 20",
    "top_logprobs",
  ],
];
