// Tools for models whose template offers none: a system prompt says in words which there are and how
// they are called, earlier calls and their results become text, and the grammar of a call is exact as
// for any family. The form of calls is Hermes's, which most models have met in training.

import { ChatTemplateError } from "../../tokenizer/mod.ts";
import type { ChatMessage, Tool, ToolCall } from "../types/mod.ts";
import type { Render } from "./render.ts";

/**
 * A rendering that tells of tools in words, and of calls and results also where there are no tools.
 *
 * @param render that of the template, without tools
 */
export function renderingTools(render: Render, tools: readonly Tool[]): Render {
  const prompt = promptOf(tools);
  return (messages, options) => {
    const told = inWords(messages);
    if (tools.length === 0) return render(told, options);
    const [first, ...others] = told;
    if (first?.role === "system") {
      return render([{ ...first, content: `${first.content}\n\n${prompt}` }, ...others], options);
    }
    try {
      return render([{ role: "system", content: prompt }, ...told], options);
    } catch (error) {
      if (!(error instanceof ChatTemplateError)) throw error;
      // Some templates refuse system messages: then the first message says it.
      const spoken = first?.role === "user"
        ? [{ ...first, content: `${prompt}\n\n${first.content}` }, ...others]
        : [{ role: "user" as const, content: prompt }, ...told];
      return render(spoken, options);
    }
  };
}

function promptOf(tools: readonly Tool[]): string {
  const lines = tools.map(({ function: { name, description, parameters } }) =>
    JSON.stringify({
      name,
      ...(description && { description }),
      parameters: { type: "object", ...parameters },
    })
  );
  return `You can call tools. Each line describes one, with the JSON Schema of its arguments:

${lines.join("\n")}

To call a tool, write its name and its arguments as JSON between these marks:

<tool_call>
{"name": "the tool's name", "arguments": {"an argument": "its value"}}
</tool_call>

Write one such block for each call. The results come in the next message, each between \
<tool_response> and </tool_response>, in the order of the calls. If no tool helps, answer in words.`;
}

/**
 * The turns, with calls and results as text. The results of a turn, and what the user says after
 * them, are one message: templates may want users and assistants to alternate.
 */
function inWords(messages: readonly ChatMessage[]): ChatMessage[] {
  const turns: ChatMessage[] = [];
  let followsResult = false;
  for (const { toolCalls = [], toolName: _, toolCallId: __, ...message } of messages) {
    const isResult = message.role === "tool";
    const text = isResult
      ? `<tool_response>\n${message.content}\n</tool_response>`
      : [message.content, ...toolCalls.map(callText)].filter((part) => part !== "").join("\n");
    const last = turns.at(-1);
    if (last && followsResult && (isResult || message.role === "user")) {
      const images = [...last.images ?? [], ...message.images ?? []];
      const audio = [...last.audio ?? [], ...message.audio ?? []];
      const content = `${last.content}\n${text}`;
      turns.splice(-1, 1, {
        ...last,
        content,
        ...(images.length > 0 && { images }),
        ...(audio.length > 0 && { audio }),
      });
    } else {
      turns.push({ ...message, role: isResult ? "user" : message.role, content: text });
    }
    followsResult = isResult;
  }
  return turns;
}

function callText({ function: { name, arguments: values } }: ToolCall): string {
  const call = `{"name": ${JSON.stringify(name)}, "arguments": ${JSON.stringify(values)}}`;
  return `<tool_call>\n${call}\n</tool_call>`;
}
