// AI SDK's prompt as a conversation of the library: parts of messages become texts, pictures, thinking,
// calls and results. Pure functions; what a model cannot read is an error that names the part.

import type { ChatMessage, ToolCall } from "../../mod.ts";
import type {
  LanguageModelV4Message,
  LanguageModelV4ToolResultOutput,
  SharedV4FileData,
} from "./dependencies.ts";
import { UnsupportedRequestError } from "./errors.ts";

/** The messages of a prompt. @throws {UnsupportedRequestError} */
export function messagesOf(prompt: readonly LanguageModelV4Message[]): ChatMessage[] {
  return prompt.flatMap((message): ChatMessage[] => {
    switch (message.role) {
      case "system":
        return [{ role: "system", content: message.content }];
      case "user":
        return [{ role: "user", ...readContent(message.content) }];
      case "assistant":
        return [readAssistant(message.content)];
      case "tool":
        return message.content.map((part) => {
          if (part.type !== "tool-result") throw unsupported(`parts of type "${part.type}"`);
          const { toolCallId, toolName, output } = part;
          return { role: "tool", toolCallId, toolName, ...readOutput(output) };
        });
    }
  });
}

type Of<Role> = Extract<LanguageModelV4Message, { role: Role }>;
type Image = Uint8Array | string;
type Content = { content: string; images?: Image[] };

function readContent(parts: Of<"user">["content"]): Content {
  const images: Image[] = [];
  const texts = parts.map((part) => {
    if (part.type === "text") return part.text;
    const read = readFile(part.data, part.mediaType);
    if ("text" in read) return read.text;
    images.push(read.image);
    return undefined;
  });
  const content = texts.filter((text) => text !== undefined).join("\n");
  return { content, ...(images.length > 0 && { images }) };
}

function readAssistant(parts: Of<"assistant">["content"]): ChatMessage {
  let [content, thinking] = ["", ""];
  const toolCalls: ToolCall[] = [];
  for (const part of parts) {
    if (part.type === "text") content += part.text;
    else if (part.type === "reasoning") thinking += part.text;
    else if (part.type === "tool-call" && !part.providerExecuted) {
      const { toolCallId: id, toolName: name, input } = part;
      toolCalls.push({ id, function: { name, arguments: input as Record<string, unknown> } });
    } else throw unsupported(`parts of type "${part.type}" that an assistant said`);
  }
  return {
    role: "assistant",
    content,
    ...(thinking && { thinking }),
    ...(toolCalls.length > 0 && { toolCalls }),
  };
}

function readOutput(output: LanguageModelV4ToolResultOutput): Content {
  switch (output.type) {
    case "text":
    case "error-text":
      return { content: output.value };
    case "json":
    case "error-json":
      return { content: JSON.stringify(output.value) };
    case "execution-denied":
      return { content: `The call was denied${output.reason ? `: ${output.reason}` : ""}` };
    case "content":
      return readContent(output.value.map((part) => {
        if (part.type === "custom") throw unsupported('results of type "custom"');
        return part;
      }));
  }
}

function readFile(data: SharedV4FileData, mediaType: string): { text: string } | { image: Image } {
  const [kind] = mediaType.split("/");
  if (data.type === "text") return { text: data.text };
  if (data.type === "data" && kind === "image") return { image: data.data };
  if (data.type === "data" && kind === "text") {
    const bytes = typeof data.data === "string"
      ? Uint8Array.from(atob(data.data), (character) => character.charCodeAt(0))
      : data.data;
    return { text: new TextDecoder().decode(bytes) };
  }
  if (data.type !== "data") throw unsupported(`files by ${data.type}`);
  throw unsupported(`files of type ${mediaType}`);
}

function unsupported(what: string): UnsupportedRequestError {
  return new UnsupportedRequestError(
    `Cannot give the prompt to the model: ${what} are not supported, texts and images are`,
  );
}
