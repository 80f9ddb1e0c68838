// Where images are in a prompt. Before a template runs, each image becomes a mark in the text
// of its message; afterwards the text is split at the marks. A mark has a random part, so that no
// text of a conversation can contain it by intention.

import { addText, cutText, plain, type Text } from "../../tokenizer/mod.ts";
import type { ChatMessage } from "../types/mod.ts";
import type { Prompt } from "./prompt.ts";
import type { MediaData, PromptMedia, ReadMedia } from "./prompt_media.ts";

/**
 * Stands for the next image in a text that a program has composed. In such a text `[img]` and the
 * like are ordinary words.
 */
export const IMAGE_PLACEHOLDER = "\uE000image\uE001";

/** What stands for images in a text: for the next one, or for one by number. */
const WISHES = /<__media__>|\[img\]|\[img-(\d+)\]/g;
const PLACEHOLDERS = new RegExp(IMAGE_PLACEHOLDER, "g");

/** The marks of one request's images. */
export class MediaMarks {
  /** The images in the order of their marks' numbers. */
  readonly media: MediaData[] = [];
  readonly #name = crypto.randomUUID();

  /**
   * A text with marks for its images. Each IMAGE_PLACEHOLDER becomes the next image's. In texts without
   * it, `<__media__>` and `[img]` become the next one's, and `[img-N]` that of image N. The
   * remaining images come before the text.
   */
  mark(text: string, images: readonly MediaData[] = []): string {
    const marks = images.map((image) => `\uE000${this.#name}:${this.media.push(image) - 1}\uE001`);
    const unused = new Set(marks);
    let next = 0;
    const wishes = text.includes(IMAGE_PLACEHOLDER) ? PLACEHOLDERS : WISHES;
    const marked = text.replace(wishes, (wish, number?: string | number) => {
      // If the pattern has no group, the second argument is an offset.
      const mark = marks[typeof number === "string" ? Number(number) : next++];
      return mark !== undefined && unused.delete(mark) ? mark : wish;
    });
    return [...unused].join("") + marked;
  }

  markMessages(messages: readonly ChatMessage[]): ChatMessage[] {
    return messages.map(({ images, ...message }) => ({
      ...message,
      content: this.mark(message.content, images),
    }));
  }

  /** A text in which marks are shown as `[img-N]`, for people. */
  show(text: string): string {
    return text.replace(this.#pattern(), (_, number) => `[img-${number}]`);
  }

  /**
   * A prompt with the images in place of their marks. It begins with a text, which may be empty.
   */
  split(prompt: Text, read: readonly ReadMedia[]): Prompt {
    const pieces: (Text | PromptMedia)[] = [];
    let [text, end]: [Text, number] = ["", 0];
    for (const { index, 0: mark, 1: number } of plain(prompt).matchAll(this.#pattern())) {
      text = addText(text, cutText(prompt, end, index));
      end = index + mark.length;
      const { parts, texts } = read[Number(number)];
      parts.forEach((part, i) => {
        text = addText(text, texts[i]);
        if (text !== "" || pieces.length === 0) pieces.push(text);
        pieces.push(part);
        text = "";
      });
      text = addText(text, texts[parts.length]);
    }
    text = addText(text, cutText(prompt, end));
    return text !== "" || pieces.length === 0 ? [...pieces, text] : pieces;
  }

  #pattern(): RegExp {
    return new RegExp(`\uE000${this.#name}:(\\d+)\uE001`, "g");
  }
}
