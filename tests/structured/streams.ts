// What a client of each API makes of a stream: the body that the same request gets in one piece, as far as
// routes.ts reads it.

// deno-lint-ignore-file no-explicit-any

/** The body of a streamed answer. @param path of the route @param text the whole stream */
export function bodyOfStream(path: string, text: string): any {
  if (path.startsWith("/api/")) return nativeBody(text.trim().split("\n").map(parse));
  const events = text.split("\n\n")
    .map((event) => /^data: (.*)$/m.exec(event)?.[1])
    .filter((data) => data !== undefined && data !== "[DONE]")
    .map((data) => parse(data!));
  const fault = events.find((event) => event.error !== undefined && event.error !== null);
  if (fault !== undefined) throw new Error(JSON.stringify(fault));
  if (path === "/v1/responses") return events.at(-1).response;
  return path === "/v1/messages" ? messageBody(events) : completionBody(events);
}

function parse(text: string): any {
  return JSON.parse(text);
}

function nativeBody(lines: any[]): any {
  const join = (read: (line: any) => string | undefined) =>
    lines.map((line) => read(line) ?? "").join("");
  return {
    ...lines.at(-1),
    response: join(({ response }) => response),
    message: { content: join(({ message }) => message?.content) },
  };
}

function completionBody(events: any[]): any {
  const deltas = events.flatMap(({ choices }) => choices ?? []);
  const calls: { function: { arguments: string } }[] = [];
  for (const { index, function: named } of deltas.flatMap(({ delta }) => delta.tool_calls ?? [])) {
    (calls[index] ??= { function: { arguments: "" } }).function.arguments += named.arguments ?? "";
  }
  return {
    choices: [{
      finish_reason: deltas.find(({ finish_reason }) => finish_reason)?.finish_reason,
      message: {
        content: deltas.map(({ delta }) => delta.content ?? "").join(""),
        tool_calls: calls,
      },
    }],
    // Only who asks for it gets a count of tokens.
    usage: {},
  };
}

function messageBody(events: any[]): any {
  const content: any[] = [];
  for (const { type, index, content_block: block, delta } of events) {
    if (type === "content_block_start") content[index] = { ...block, json: "" };
    if (type !== "content_block_delta") continue;
    if (delta.type === "text_delta") content[index].text += delta.text;
    if (delta.type === "input_json_delta") content[index].json += delta.partial_json;
  }
  for (const block of content) if (block.json !== "") block.input = JSON.parse(block.json);
  const { delta, usage } = events.find(({ type }) => type === "message_delta");
  return { content, stop_reason: delta.stop_reason, usage };
}
