// Where images and sounds are in a prompt. Before a template runs, each of them becomes a mark in the text
// of its message; afterwards the text is split at the marks. A mark has a random part, so that no
// text of a conversation can contain it by intention.

import { addText, cutText, plain, type Text } from "../../tokenizer/mod.ts";
import type { ChatMessage } from "../types/mod.ts";
import type { Prompt } from "./prompt.ts";
import type { MediaData, MediaItem, PromptMedia, ReadMedia } from "./prompt_media.ts";

/**
 * Stands for the next image in a text that a program has composed. In such a text `[img]` and the
 * like are ordinary words.
 */
export const IMAGE_PLACEHOLDER = "\uE000image\uE001";

/** Stands for the next sound in such a text. */
export const AUDIO_PLACEHOLDER = "\uE000audio\uE001";

/** What stands for media in other texts: for the next one, or for an image by number. */
const WISHES = /<__media__>|\[img\]|\[img-(\d+)\]/g;
const PLACEHOLDERS = /\uE000(image|audio)\uE001/g;

/** The marks of one request's images and sounds. */
export class MediaMarks {
  /** The images and sounds in the order of their marks' numbers. */
  readonly media: MediaItem[] = [];
  readonly #name = crypto.randomUUID();

  /**
   * A text with marks for its images and sounds. Each IMAGE_PLACEHOLDER becomes the next image's, each
   * AUDIO_PLACEHOLDER the next sound's. In texts without them, `<__media__>` and `[img]` become the next
   * one's, images first, and `[img-N]` that of image N. The remaining ones come before the text.
   */
  mark(
    text: string,
    images: readonly MediaData[] = [],
    audio: readonly MediaData[] = [],
  ): string {
    const marksOf = (kind: MediaItem["kind"], list: readonly MediaData[]) =>
      list.map((data) => `\uE000${this.#name}:${this.media.push({ kind, data }) - 1}\uE001`);
    const marks = { image: marksOf("image", images), audio: marksOf("audio", audio) };
    const all = [...marks.image, ...marks.audio];
    const unused = new Set(all);
    const next = { image: 0, audio: 0, any: 0 };
    const isComposed = [IMAGE_PLACEHOLDER, AUDIO_PLACEHOLDER].some((mark) => text.includes(mark));
    const place = (wish: string, mark: string | undefined) =>
      mark !== undefined && unused.delete(mark) ? mark : wish;
    const marked = isComposed
      ? text.replace(
        PLACEHOLDERS,
        (wish, kind: MediaItem["kind"]) => place(wish, marks[kind][next[kind]++]),
      )
      : text.replace(WISHES, (wish, number?: string | number) =>
        // If the pattern has no number, the second argument is an offset.
        place(wish, typeof number === "string" ? marks.image[Number(number)] : all[next.any++]));
    return [...unused].join("") + marked;
  }

  markMessages(messages: readonly ChatMessage[]): ChatMessage[] {
    return messages.map(({ images, audio, ...message }) => ({
      ...message,
      content: this.mark(message.content, images, audio),
    }));
  }

  /** A text in which marks are shown as `[img-N]` or `[audio-N]`, for people. */
  show(text: string): string {
    return text.replace(this.#pattern(), (_, number) => {
      const kind = this.media[Number(number)].kind;
      return `[${kind === "image" ? "img" : kind}-${number}]`;
    });
  }

  /**
   * A prompt with the images and sounds in place of their marks. It begins with a text, which may be empty.
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
