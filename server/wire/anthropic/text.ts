// Blocks that come down to text, and how texts become one. What is no text is refused by name: a
// client must never believe that something was read which was left out.

import { HttpError } from "../../errors.ts";
import type { AnthropicBlock, AnthropicSource } from "./types.ts";

/** Joins texts; where none of two has white space between them, a line break comes in. */
export function joinTexts(texts: readonly string[]): string {
  return texts.filter((text) => text !== "").reduce((joined, text) => {
    const isApart = joined === "" || /\s$/.test(joined) || /^\s/.test(text);
    return joined + (isApart ? "" : "\n") + text;
  }, "");
}

/**
 * The text of what only text may stand in: a string, or blocks.
 *
 * @param place what is read, for the sentence of an error
 */
export function readText(
  content: string | readonly AnthropicBlock[] | null | undefined,
  place: string,
  model: string,
): string {
  if (content === null || content === undefined || typeof content === "string") {
    return content ?? "";
  }
  return joinTexts(
    content.map((block, index) => readTextBlock(block, `${place}[${index}]`, model)),
  );
}

/**
 * The text of a block.
 *
 * @throws {HttpError} 400 if it has none
 */
export function readTextBlock(block: AnthropicBlock, place: string, model: string): string {
  switch (block.type) {
    case "text":
      if (typeof block.text === "string") return block.text;
      throw new HttpError(400, `${place} lacks "text"`);
    case "search_result":
      return readText(block.content, `${place}.content`, model);
    case "document":
      return readDocument(block.source, place, model);
    case "image":
      throw imageRefusal(block.source, place, model);
    default:
      throw new HttpError(
        400,
        `${place}: content blocks of type "${block.type}" are not supported`,
      );
  }
}

function readDocument(
  source: AnthropicSource | null | undefined,
  place: string,
  model: string,
): string {
  if (source?.type === "text") return source.data ?? "";
  if (source?.type === "content") return readText(source.content, `${place}.source.content`, model);
  throw new HttpError(
    400,
    `${place}: PDF documents, and documents by URL or file id, are not supported: send their text`,
  );
}

function imageRefusal(
  source: AnthropicSource | null | undefined,
  place: string,
  model: string,
): HttpError {
  if (!source) return new HttpError(400, `${place} lacks "source"`);
  if (source.type !== "base64") {
    return new HttpError(
      400,
      `invalid image source type: ${source.type}. Only base64 images are supported.`,
    );
  }
  const fault = findBase64Fault(source.data ?? "");
  return new HttpError(
    400,
    fault === undefined
      ? `"${model}" does not support image input`
      : `illegal base64 data at input byte ${fault}`,
  );
}

/** Index of the first character that standard base64 cannot have there; line breaks are let pass. */
function findBase64Fault(data: string): number | undefined {
  const good = /^(?:[A-Za-z0-9+/]|[\r\n])*/.exec(data)![0];
  const rest = data.slice(good.length).replace(/[\r\n]/g, "");
  const count = good.replace(/[\r\n]/g, "").length;
  const padding = ["", undefined, "==", "="][count % 4];
  return rest === padding ? undefined : good.length;
}
