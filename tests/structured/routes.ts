// The ways to ask for a structured answer over HTTP: a format, or the arguments of a tool that must be
// called. What goes out, and where in what comes back the answer and its count of tokens are.

/** What is asked for. */
export interface Ask {
  readonly prompt: string;
  readonly schema: unknown;
  readonly temperature: number;
  readonly seed: number;
  readonly maxTokens: number;
}

/** An answer. */
export interface Answer {
  readonly value: unknown;
  readonly tokens: number;
}

/** A way to ask. */
export interface Route {
  readonly name: string;
  readonly path: string;
  /** Whether the schema is part of the prompt, so that another schema may get another answer. */
  readonly isTool?: boolean;
  body(ask: Ask): object;
  /** Whether the answer says that the limit of tokens shortened it. */
  // deno-lint-ignore no-explicit-any
  isCut(body: any): boolean;
  /** Whether the answer hands a call out. Of tools alone. */
  // deno-lint-ignore no-explicit-any
  hasCall?(body: any): boolean;
  // deno-lint-ignore no-explicit-any
  read(body: any): Answer;
}

const MODEL = "quern:tiny";
const said = ({ prompt }: Ask) => [{ role: "user", content: prompt }];
const native = ({ temperature, seed, maxTokens }: Ask) => ({
  model: MODEL,
  stream: false,
  think: false,
  options: { temperature, seed, num_predict: maxTokens },
});
const common = ({ temperature, seed }: Ask) => ({
  model: MODEL,
  temperature,
  options: { seed },
});
const TOOL = "record";
const description = "Record what was asked for";

/** All of them. */
export const ROUTES: readonly Route[] = [
  {
    name: "/api/generate",
    path: "/api/generate",
    body: (ask) => ({ ...native(ask), prompt: ask.prompt, format: ask.schema }),
    isCut: ({ done_reason }) => done_reason === "length",
    read: ({ response, eval_count }) => ({ value: JSON.parse(response), tokens: eval_count }),
  },
  {
    name: "/api/chat",
    path: "/api/chat",
    body: (ask) => ({ ...native(ask), messages: said(ask), format: ask.schema }),
    isCut: ({ done_reason }) => done_reason === "length",
    read: ({ message, eval_count }) => ({ value: JSON.parse(message.content), tokens: eval_count }),
  },
  {
    name: "/v1/chat/completions",
    path: "/v1/chat/completions",
    body: (ask) => ({
      ...common(ask),
      max_tokens: ask.maxTokens,
      reasoning_effort: "none",
      messages: said(ask),
      response_format: { type: "json_schema", json_schema: { name: "answer", schema: ask.schema } },
    }),
    isCut: ({ choices }) => choices[0].finish_reason === "length",
    read: ({ choices, usage }) => ({
      value: JSON.parse(choices[0].message.content),
      tokens: usage.completion_tokens,
    }),
  },
  {
    name: "/v1/responses",
    path: "/v1/responses",
    body: (ask) => ({
      ...common(ask),
      max_output_tokens: ask.maxTokens,
      reasoning: { effort: "none" },
      input: ask.prompt,
      text: { format: { type: "json_schema", name: "answer", schema: ask.schema } },
    }),
    isCut: ({ status }) => status === "incomplete",
    read: ({ output, usage }) => ({
      value: JSON.parse(
        output.find(({ type }: { type: string }) => type === "message").content[0].text,
      ),
      tokens: usage.output_tokens,
    }),
  },
  {
    name: "/v1/messages",
    path: "/v1/messages",
    body: (ask) => ({
      ...common(ask),
      max_tokens: ask.maxTokens,
      thinking: { type: "disabled" },
      messages: said(ask),
      output_config: { format: { type: "json_schema", schema: ask.schema } },
    }),
    isCut: ({ stop_reason }) => stop_reason === "max_tokens",
    read: ({ content, usage }) => ({
      value: JSON.parse(content.find(({ type }: { type: string }) => type === "text").text),
      tokens: usage.output_tokens,
    }),
  },
  {
    name: "/v1/chat/completions, tool",
    path: "/v1/chat/completions",
    isTool: true,
    body: (ask) => ({
      ...common(ask),
      max_tokens: ask.maxTokens,
      reasoning_effort: "none",
      messages: said(ask),
      tools: [{ type: "function", function: { name: TOOL, description, parameters: ask.schema } }],
      tool_choice: { type: "function", function: { name: TOOL } },
    }),
    isCut: ({ choices }) => choices[0].finish_reason === "length",
    hasCall: ({ choices }) => (choices[0].message.tool_calls ?? []).length > 0,
    read: ({ choices, usage }) => ({
      value: JSON.parse(choices[0].message.tool_calls[0].function.arguments),
      tokens: usage.completion_tokens,
    }),
  },
  {
    name: "/v1/messages, tool",
    path: "/v1/messages",
    isTool: true,
    body: (ask) => ({
      ...common(ask),
      max_tokens: ask.maxTokens,
      thinking: { type: "disabled" },
      messages: said(ask),
      tools: [{ name: TOOL, description, input_schema: ask.schema }],
      tool_choice: { type: "tool", name: TOOL },
    }),
    isCut: ({ stop_reason }) => stop_reason === "max_tokens",
    hasCall: ({ content }) => content.some(({ type }: { type: string }) => type === "tool_use"),
    read: ({ content, usage }) => ({
      value: content.find(({ type }: { type: string }) => type === "tool_use").input,
      tokens: usage.output_tokens,
    }),
  },
];
