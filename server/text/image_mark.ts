// Contents with images in them: one text and its images in order, with a mark in the text where each
// image stands. The engine puts images at their marks, and those without one before the text.

import { type ChatMessage, IMAGE_PLACEHOLDER } from "../../engine/mod.ts";

const LEADING_PLACEHOLDERS = new RegExp(`^(?:${IMAGE_PLACEHOLDER})+`);

/** A text, or an image as the bytes of its file or their base64. */
export type ContentPiece = string | { image: Uint8Array | string };

/** The members of a message that its pieces become. */
export type ComposedContent = Pick<ChatMessage, "content" | "images">;

/**
 * Makes a content of pieces.
 *
 * @param join makes one text of the texts between two images
 */
export function composeContent(
  pieces: readonly ContentPiece[],
  join: (texts: readonly string[]) => string,
): ComposedContent {
  const images: (Uint8Array | string)[] = [];
  let content = "";
  let texts: string[] = [];
  for (const piece of pieces) {
    if (typeof piece === "string") {
      texts.push(piece);
      continue;
    }
    content += join(texts) + IMAGE_PLACEHOLDER;
    texts = [];
    images.push(piece.image);
  }
  content += join(texts);
  return { content, ...(images.length > 0 && { images }) };
}

/** The pieces of a content, without empty texts. */
export function piecesOf({ content, images = [] }: ComposedContent): ContentPiece[] {
  const [first = "", ...texts] = content.split(IMAGE_PLACEHOLDER);
  const shown = images.map((image) => ({ image }));
  const placed = shown.slice(0, texts.length);
  const rest = texts.slice(placed.length).map((text) => IMAGE_PLACEHOLDER + text).join("");
  const pieces = placed.flatMap((piece, index) => {
    const isLast = index === placed.length - 1;
    return [piece, texts[index]! + (isLast ? rest : "")];
  });
  const start = placed.length > 0 ? first : first + rest;
  return [...shown.slice(placed.length), start, ...pieces].filter((piece) => piece !== "");
}

/**
 * The text of a content with another program's marks for images. No marks are needed if all images
 * stand before the text.
 */
export function withMark({ content, images = [] }: ComposedContent, mark: string): string {
  if (images.length === 0) return content;
  const text = content.replace(LEADING_PLACEHOLDERS, "");
  return text.includes(IMAGE_PLACEHOLDER) ? content.replaceAll(IMAGE_PLACEHOLDER, mark) : text;
}
