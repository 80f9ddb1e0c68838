// Where images stand in a prompt. Before a template runs, each image is a mark in the text of its
// message; afterwards the text is cut at the marks. A mark has a random part, so that no text of a
// conversation can be taken for one.

import { addText, cutText, plain, type Text } from "../../tokenizer/mod.ts";
import type { ChatMessage } from "../types.ts";
import type { Prompt } from "./prompt.ts";
import type { ImageData, PromptImage, ReadImage } from "./prompt_images.ts";

/**
 * Where the next of its images stands in a text that a program put together. Where a text has it,
 * `[img]` and its like are words of whoever wrote them.
 */
export const IMAGE_PLACE = "\uE000image\uE001";

/** Where a text wants an image: the next of its own, or one by number. */
const WISHES = /<__media__>|\[img\]|\[img-(\d+)\]/g;
const PLACES = new RegExp(IMAGE_PLACE, "g");

/** The marks of one request's images. */
export class ImageMarks {
  /** In the order of their marks' numbers. */
  readonly images: ImageData[] = [];
  readonly #name = crypto.randomUUID();

  /**
   * A text with marks for its images: at each IMAGE_PLACE the next one; in a text without, where it
   * says `<__media__>` or `[img]` the next one, at `[img-N]` that of the number. The others come
   * before it.
   */
  place(text: string, images: readonly ImageData[] = []): string {
    const marks = images.map((image) => `\uE000${this.#name}:${this.images.push(image) - 1}\uE001`);
    const unused = new Set(marks);
    let next = 0;
    const wishes = text.includes(IMAGE_PLACE) ? PLACES : WISHES;
    const placed = text.replace(wishes, (wish, number?: string | number) => {
      // Without a group in the pattern, the second argument is an offset.
      const mark = marks[typeof number === "string" ? Number(number) : next++];
      return mark !== undefined && unused.delete(mark) ? mark : wish;
    });
    return [...unused].join("") + placed;
  }

  /** Messages with marks for their images. */
  placeInMessages(messages: readonly ChatMessage[]): ChatMessage[] {
    return messages.map(({ images, ...message }) => ({
      ...message,
      content: this.place(message.content, images),
    }));
  }

  /** A text with its marks as people may see them: `[img-N]`. */
  show(text: string): string {
    return text.replace(this.#pattern(), (_, number) => `[img-${number}]`);
  }

  /** A prompt with the images in place of their marks. It begins with a text, even an empty one. */
  split(prompt: Text, read: readonly ReadImage[]): Prompt {
    const pieces: (Text | PromptImage)[] = [];
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
