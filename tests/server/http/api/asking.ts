// One question in every chat API, whole and as a stream, and the answer in one form: for tests
// of what must be the same everywhere.

import type { createTinyApp } from "../../tiny_app.ts";
import { assertEquals } from "@std/assert";

/** A message in a form that all APIs can say. */
export interface Said {
  role: "user" | "assistant";
  content: string;
  thinking?: string;
}

/** What is asked. Default: greedily. */
export interface Question {
  model: string;
  messages: Said[];
  maxTokens?: number;
  stop?: string[];
  /** A function. */
  tool?: { name: string; description: string; parameters: object };
  thinks?: boolean;
  /** JSON Schema of the answer. */
  schema?: object;
}

/** An answer. `finish` is why it ended, in the API's own word. */
export interface Told {
  content: string;
  thinking: string;
  calls: { name: string; arguments: unknown }[];
  finish: string;
}

// deno-lint-ignore no-explicit-any -- the records of four APIs
type Record = any;

/** An API: how it is asked, and how the answer is read. */
interface Api {
  path: string;
  body(question: Question): object;
  whole(answer: Record): Told;
  /** Puts the records of a stream together, as a client does. */
  joined(records: Record[]): Told;
}

const text = (parts: (string | null | undefined)[]) => parts.map((part) => part ?? "").join("");

const call = (name: string, json: string) => ({ name, arguments: JSON.parse(json) });

const APIS: { [name: string]: Api } = {
  "/api/chat": {
    path: "/api/chat",
    body: ({ messages, maxTokens, stop, tool, thinks, schema }) => ({
      messages,
      ...(thinks !== undefined && { think: thinks }),
      ...(schema && { format: schema }),
      ...(tool && { tools: [{ type: "function", function: tool }] }),
      options: { temperature: 0, num_predict: maxTokens ?? 120, ...(stop && { stop }) },
    }),
    whole: (record) => APIS["/api/chat"].joined([record]),
    joined: (records) => ({
      content: text(records.map(({ message }) => message.content)),
      thinking: text(records.map(({ message }) => message.thinking)),
      calls: records.flatMap(({ message }) => message.tool_calls ?? [])
        .map(({ function: { name, arguments: values } }) => ({ name, arguments: values })),
      finish: records.at(-1).done_reason,
    }),
  },
  "/v1/chat/completions": {
    path: "/v1/chat/completions",
    body: ({ messages, maxTokens, stop, tool, thinks, schema }) => ({
      messages: messages.map(({ thinking, ...said }) => ({ ...said, reasoning: thinking })),
      temperature: 0,
      max_tokens: maxTokens ?? 120,
      ...(stop && { stop }),
      ...(thinks !== undefined && { reasoning_effort: thinks ? "high" : "none" }),
      ...(schema &&
        { response_format: { type: "json_schema", json_schema: { name: "a", schema } } }),
      ...(tool && { tools: [{ type: "function", function: tool }] }),
    }),
    whole: ({ choices: [{ message, finish_reason }] }) => ({
      content: message.content ?? "",
      thinking: message.reasoning ?? "",
      calls: (message.tool_calls ?? []).map(({ function: made }: Record) =>
        call(made.name, made.arguments)
      ),
      finish: finish_reason,
    }),
    joined(records) {
      const deltas = records.filter(({ choices }) => choices.length > 0)
        .map(({ choices: [choice] }) => choice);
      const calls: { name: string; json: string }[] = [];
      for (const { delta } of deltas) {
        for (const { index, function: { name, arguments: json } } of delta.tool_calls ?? []) {
          calls[index] ??= { name, json: "" };
          calls[index].json += json ?? "";
        }
      }
      return {
        content: text(deltas.map(({ delta }) => delta.content)),
        thinking: text(deltas.map(({ delta }) => delta.reasoning)),
        calls: calls.map(({ name, json }) => call(name, json)),
        finish: deltas.at(-1).finish_reason,
      };
    },
  },
  "/v1/messages": {
    path: "/v1/messages",
    body: ({ messages, maxTokens, stop, tool, thinks, schema }) => ({
      messages: messages.map(({ role, content, thinking }) => ({
        role,
        content: [
          ...(thinking ? [{ type: "thinking", thinking, signature: "x" }] : []),
          ...(content ? [{ type: "text", text: content }] : []),
        ],
      })),
      temperature: 0,
      max_tokens: maxTokens ?? 120,
      ...(stop && { stop_sequences: stop }),
      ...(thinks !== undefined && { thinking: { type: thinks ? "enabled" : "disabled" } }),
      ...(schema && { output_config: { format: { type: "json_schema", schema } } }),
      ...(tool && {
        tools: [{
          name: tool.name,
          description: tool.description,
          input_schema: tool.parameters,
        }],
      }),
    }),
    whole: ({ content, stop_reason }) => ({
      content: text(content.map((block: Record) => block.text)),
      thinking: text(content.map((block: Record) => block.thinking)),
      calls: content.filter(({ type }: Record) => type === "tool_use")
        .map(({ name, input }: Record) => ({ name, arguments: input })),
      finish: stop_reason,
    }),
    joined(records) {
      const deltas = records.filter(({ type }) => type === "content_block_delta");
      const calls = records.filter(({ content_block: block }) => block?.type === "tool_use");
      return {
        content: text(deltas.map(({ delta }) => delta.text)),
        thinking: text(deltas.map(({ delta }) => delta.thinking)),
        calls: calls.map(({ index, content_block: { name } }) =>
          call(
            name,
            text(
              deltas.filter((each) => each.index === index).map(({ delta }) => delta.partial_json),
            ),
          )
        ),
        finish: records.find(({ type }) => type === "message_delta").delta.stop_reason,
      };
    },
  },
  "/v1/responses": {
    path: "/v1/responses",
    body: ({ messages, maxTokens, stop, tool, thinks, schema }) => ({
      input: messages.flatMap(({ role, content, thinking }) => [
        ...(thinking
          ? [{ type: "reasoning", summary: [{ type: "summary_text", text: thinking }] }]
          : []),
        ...(content ? [{ role, content }] : []),
      ]),
      temperature: 0,
      store: false,
      max_output_tokens: maxTokens ?? 120,
      ...(stop && { options: { stop } }),
      ...(thinks !== undefined && { reasoning: { effort: thinks ? "high" : "none" } }),
      ...(schema && { text: { format: { type: "json_schema", name: "a", schema } } }),
      ...(tool && { tools: [{ type: "function", ...tool }] }),
    }),
    whole: ({ output, status, incomplete_details: details }) => ({
      content: text(
        output.flatMap(({ content }: Record) => content ?? []).map((p: Record) => p.text),
      ),
      thinking: text(
        output.flatMap(({ summary }: Record) => summary ?? []).map((part: Record) => part.text),
      ),
      calls: output.filter(({ type }: Record) => type === "function_call")
        .map((item: Record) => call(item.name, item.arguments)),
      finish: details?.reason ?? status,
    }),
    joined(records) {
      const pieces = (type: string) =>
        text(records.filter((record) => record.type === type).map(({ delta }) => delta));
      const { response } = records.at(-1);
      const told = APIS["/v1/responses"].whole(response);
      assertEquals(pieces("response.output_text.delta"), told.content);
      assertEquals(pieces("response.reasoning_summary_text.delta"), told.thinking);
      return told;
    },
  },
};

/** The names of the APIs. */
export const CHAT_APIS: readonly string[] = Object.keys(APIS);

type App = Awaited<ReturnType<typeof createTinyApp>>["app"];

/** The response to a question. */
export async function post(app: App, api: string, question: Question, stream: boolean) {
  const { path, body } = APIS[api];
  const given = { model: question.model, stream, ...body(question) };
  return await app.request(path, { method: "POST", body: JSON.stringify(given) });
}

/** The answer to a question, which has to be the same whole and as a stream. */
export async function ask(app: App, api: string, question: Question): Promise<Told> {
  const { whole, joined } = APIS[api];
  const [one, streamed] = [
    await post(app, api, question, false),
    await post(app, api, question, true),
  ];
  const answer = await one.json();
  assertEquals([one.status, streamed.status], [200, 200], JSON.stringify(answer));
  const lines = (await streamed.text()).split("\n").map((line) => line.replace(/^data: /, ""));
  const records = lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
  const told = whole(answer);
  assertEquals(joined(records), told, `${api} whole and as a stream`);
  return told;
}
