// The items of a response while they grow: each says what a stream tells when it begins, gets more, and
// ends. Pure. Format: https://platform.openai.com/docs/api-reference/responses-streaming

import type { CalledFunction } from "./tools.ts";
import type { OutputItem, OutputText, ResponseEvent, Status } from "./types.ts";

/** An item that grows. */
export interface GrowingItem {
  readonly kind: OutputItem["type"];
  /** Events of its beginning. */
  begin(): ResponseEvent[];
  /** Takes more of it. */
  grow(piece: string): ResponseEvent;
  /** Events of its end. */
  end(status: Status): ResponseEvent[];
  /** What there is of it. */
  item(status: Status): OutputItem;
}

/** Where an item stands in the answer. */
interface Place {
  item_id: string;
  output_index: number;
}

abstract class BaseItem implements GrowingItem {
  abstract readonly kind: OutputItem["type"];
  protected text = "";
  protected readonly id: string;
  protected readonly place: Place;

  /** @param id unique among items of all responses, but for the prefix of its kind */
  constructor(prefix: string, id: string, index: number) {
    this.id = `${prefix}_${id}`;
    this.place = { item_id: this.id, output_index: index };
  }

  begin(): ResponseEvent[] {
    const item = this.item("in_progress", true);
    const { output_index } = this.place;
    return [{ type: "response.output_item.added", output_index, item }, ...this.beginPart()];
  }

  grow(piece: string): ResponseEvent {
    this.text += piece;
    return this.delta(piece);
  }

  end(status: Status): ResponseEvent[] {
    const { output_index } = this.place;
    const item = this.item(status);
    return [...this.endPart(), { type: "response.output_item.done", output_index, item }];
  }

  abstract item(status: Status, isEmpty?: boolean): OutputItem;
  protected abstract beginPart(): ResponseEvent[];
  protected abstract delta(piece: string): ResponseEvent;
  protected abstract endPart(): ResponseEvent[];
}

/** What the assistant says. */
export class MessageItem extends BaseItem {
  override readonly kind = "message";

  constructor(id: string, index: number) {
    super("msg", id, index);
  }

  override item(status: Status, isEmpty = false): OutputItem {
    const content = isEmpty ? [] : [this.#part()];
    return { type: "message", id: this.id, status, role: "assistant", content };
  }

  protected override beginPart(): ResponseEvent[] {
    return [this.#event("response.content_part.added", { part: this.#part() })];
  }

  protected override delta(piece: string): ResponseEvent {
    return this.#event("response.output_text.delta", { delta: piece, logprobs: [] });
  }

  protected override endPart(): ResponseEvent[] {
    return [
      this.#event("response.output_text.done", { text: this.text, logprobs: [] }),
      this.#event("response.content_part.done", { part: this.#part() }),
    ];
  }

  #part(): OutputText {
    return { type: "output_text", text: this.text, annotations: [], logprobs: [] };
  }

  #event(type: string, members: object): ResponseEvent {
    return { type, ...this.place, content_index: 0, ...members };
  }
}

/** What it thinks. */
export class ReasoningItem extends BaseItem {
  override readonly kind = "reasoning";

  constructor(id: string, index: number) {
    super("rs", id, index);
  }

  override item(status: Status, isEmpty = false): OutputItem {
    const summary = isEmpty ? [] : [this.#part()];
    return { type: "reasoning", id: this.id, status, summary };
  }

  protected override beginPart(): ResponseEvent[] {
    return [this.#event("response.reasoning_summary_part.added", { part: this.#part() })];
  }

  protected override delta(piece: string): ResponseEvent {
    return this.#event("response.reasoning_summary_text.delta", { delta: piece });
  }

  protected override endPart(): ResponseEvent[] {
    return [
      this.#event("response.reasoning_summary_text.done", { text: this.text }),
      this.#event("response.reasoning_summary_part.done", { part: this.#part() }),
    ];
  }

  #part() {
    return { type: "summary_text" as const, text: this.text };
  }

  #event(type: string, members: object): ResponseEvent {
    return { type, ...this.place, summary_index: 0, ...members };
  }
}

/** What it calls. */
export class CallItem extends BaseItem {
  override readonly kind = "function_call";
  readonly #call: CalledFunction & { call_id: string };

  constructor(id: string, index: number, call: CalledFunction & { id: string }) {
    super("fc", id, index);
    const { id: call_id, name, namespace } = call;
    this.#call = { call_id, name, ...(namespace && { namespace }) };
  }

  /** Whether no arguments came so far. */
  get isEmpty(): boolean {
    return this.text === "";
  }

  /** Whether the arguments are all there: an answer may be cut short within them. */
  get isWhole(): boolean {
    try {
      JSON.parse(this.text);
      return true;
    } catch {
      return false;
    }
  }

  override item(status: Status): OutputItem {
    return { type: "function_call", id: this.id, status, ...this.#call, arguments: this.text };
  }

  protected override beginPart(): ResponseEvent[] {
    return [];
  }

  protected override delta(piece: string): ResponseEvent {
    return { type: "response.function_call_arguments.delta", ...this.place, delta: piece };
  }

  protected override endPart(): ResponseEvent[] {
    const { name } = this.#call;
    const members = { name, arguments: this.text };
    return [{ type: "response.function_call_arguments.done", ...this.place, ...members }];
  }
}
