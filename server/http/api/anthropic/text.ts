// Blocks of text and images, and how their texts are joined. Other blocks are refused by name, so that
// no client believes that the model has read something that was left out.

import { HttpError } from "../../errors.ts";
import {
  composeContent,
  type ComposedContent,
  type ContentPiece,
} from "../../../text/image_mark.ts";
import type { ReadFile } from "../media.ts";
import type { AnthropicBlock, AnthropicSource } from "./schema.ts";

/** Joins texts, with a line break between two that have no white space there. */
export function joinTexts(texts: readonly string[]): string {
  return texts.filter((text) => text !== "").reduce((joined, text) => {
    const isApart = joined === "" || /\s$/.test(joined) || /^\s/.test(text);
    return joined + (isApart ? "" : "\n") + text;
  }, "");
}

/**
 * The text and images of a content, which is a string or a list of blocks.
 *
 * @param path what is read, for the sentence of an error
 */
export function readContent(
  content: string | readonly AnthropicBlock[] | null | undefined,
  path: string,
  readImage: ReadFile,
): ComposedContent {
  return composeContent(readPieces(content, path, readImage), joinTexts);
}

/**
 * The texts and images of a block, in order.
 *
 * @throws {HttpError} 400 if it has none
 */
export function readBlock(
  block: AnthropicBlock,
  path: string,
  readImage: ReadFile,
): ContentPiece[] {
  switch (block.type) {
    case "text":
      if (typeof block.text === "string") return [block.text];
      throw new HttpError(400, `${path} lacks "text"`);
    case "search_result":
      return [
        ...headOf({ Title: block.title, Source: requireAddress(block, path) }),
        ...readPieces(block.content, `${path}.content`, readImage),
      ];
    case "document":
      return [
        ...headOf({ Title: block.title, Context: block.context }),
        ...readDocument(requireSource(block, path), path, readImage),
      ];
    case "image":
      return [{ image: readImageSource(requireSource(block, path), path, readImage) }];
    default:
      throw new HttpError(
        400,
        `${path}: content blocks of type "${block.type}" are not supported`,
      );
  }
}

/** Whether any of the blocks, or of those in them, asks that the answer cites it. */
export function asksForCitations(content: AnthropicBlock["content"]): boolean {
  if (!Array.isArray(content)) return false;
  return content.some(({ citations, content }) => {
    const isAsked = citations && !Array.isArray(citations) && citations.enabled === true;
    return isAsked || asksForCitations(content);
  });
}

/** What is known of a text, a line for each fact, as the model sees it before the text. */
function headOf(facts: Record<string, string | null | undefined>): string[] {
  return Object.entries(facts).flatMap(([name, fact]) => fact ? [`${name}: ${fact}`] : []);
}

/** The source of a search result. */
function requireAddress({ source }: AnthropicBlock, path: string): string {
  if (typeof source === "string") return source;
  throw new HttpError(400, `${path}.source must be of type string`);
}

/** The source of an image or a document. */
function requireSource({ source }: AnthropicBlock, path: string): AnthropicSource {
  if (!source) throw new HttpError(400, `${path} lacks "source"`);
  if (typeof source !== "string") return source;
  throw new HttpError(400, `${path}.source must be of type object`);
}

function readPieces(
  content: string | readonly AnthropicBlock[] | null | undefined,
  path: string,
  readImage: ReadFile,
): ContentPiece[] {
  if (content === null || content === undefined) return [];
  if (typeof content === "string") return [content];
  return content.flatMap((block, index) => readBlock(block, `${path}[${index}]`, readImage));
}

function readDocument(
  source: AnthropicSource,
  path: string,
  readImage: ReadFile,
): ContentPiece[] {
  if (source.type === "text") return [source.data ?? ""];
  if (source.type === "content") {
    return readPieces(source.content, `${path}.source.content`, readImage);
  }
  throw new HttpError(
    400,
    `${path}: PDF documents, and documents by URL or file id, are not supported: send their text`,
  );
}

function readImageSource(
  source: AnthropicSource,
  path: string,
  readImage: ReadFile,
): Uint8Array {
  if (source.type === "base64") return readImage(source.data ?? "", `${path}.source.data`);
  throw new HttpError(
    400,
    `invalid image source type: ${source.type}. Only base64 images are supported. ` +
      `Send the bytes of ${path} as base64.`,
  );
}
