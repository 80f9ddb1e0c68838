// Contents with images and sounds in them: one text and these in order, with a mark in the text where each
// stands. The engine puts them at their marks, and those without one before the text.

import { AUDIO_PLACEHOLDER, type ChatMessage, IMAGE_PLACEHOLDER } from "../../engine/mod.ts";

const LEADING_PLACEHOLDERS = new RegExp(`^(?:${IMAGE_PLACEHOLDER})+`);

/** A text, or an image as the bytes of its file or their base64. */
export type ContentPiece = string | { image: Uint8Array | string };

/** A text, an image or a sound. */
export type MediaPiece = ContentPiece | { audio: Uint8Array | string };

/** The members of a message that its pieces become. */
export type ComposedContent = Pick<ChatMessage, "content" | "images" | "audio">;

/**
 * Makes a content of pieces.
 *
 * @param join makes one text of the texts between two images or sounds
 */
export function composeContent(
  pieces: readonly MediaPiece[],
  join: (texts: readonly string[]) => string,
): ComposedContent {
  const images: (Uint8Array | string)[] = [];
  const audio: (Uint8Array | string)[] = [];
  let content = "";
  let texts: string[] = [];
  for (const piece of pieces) {
    if (typeof piece === "string") {
      texts.push(piece);
      continue;
    }
    const isImage = "image" in piece;
    content += join(texts) + (isImage ? IMAGE_PLACEHOLDER : AUDIO_PLACEHOLDER);
    texts = [];
    if (isImage) images.push(piece.image);
    else audio.push(piece.audio);
  }
  content += join(texts);
  return {
    content,
    ...(images.length > 0 && { images }),
    ...(audio.length > 0 && { audio }),
  };
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
