// The items of a response while they are generated: each makes the events of its beginning, its
// growth and
// its end. Pure. Format: https://platform.openai.com/docs/api-reference/responses-streaming

import type { TokenLogprob } from "../../../../../engine/mod.ts";
import { toLogprobs, type WireLogprob } from "../../logprobs.ts";
import { sealSummary } from "./compaction.ts";
import type { CalledFunction } from "./tools.ts";
import type {
  ItemStatus,
  OutputItem,
  OutputText,
  SummaryText,
  UnnumberedEvent,
} from "./answer_schema.ts";

/** An item that grows. */
export interface GrowingItem {
  readonly kind: OutputItem["type"];
  /** Events of its beginning. */
  begin(): UnnumberedEvent[];
  /** Takes more of it, with the log-probabilities of its tokens if they are told. */
  grow(piece: string, logprobs?: readonly TokenLogprob[]): UnnumberedEvent[];
  /** Events of its end. */
  end(status: ItemStatus): UnnumberedEvent[];
  /** The item as far as it exists. */
  item(status: ItemStatus): OutputItem;
}

/** The index of an item in the answer. */
interface ItemAddress {
  item_id: string;
  output_index: number;
}

abstract class BaseItem implements GrowingItem {
  abstract readonly kind: OutputItem["type"];
  protected text = "";
  protected readonly id: string;
  protected readonly address: ItemAddress;

  /** @param id unique among items of all responses, except for the prefix of its kind */
  constructor(prefix: string, id: string, index: number) {
    this.id = `${prefix}_${id}`;
    this.address = { item_id: this.id, output_index: index };
  }

  begin(): UnnumberedEvent[] {
    const item = this.item("in_progress", true);
    const { output_index } = this.address;
    return [{ type: "response.output_item.added", output_index, item }, ...this.beginPart()];
  }

  grow(piece: string): UnnumberedEvent[] {
    this.text += piece;
    return this.delta(piece);
  }

  end(status: ItemStatus): UnnumberedEvent[] {
    const { output_index } = this.address;
    const item = this.item(status);
    return [...this.endPart(), { type: "response.output_item.done", output_index, item }];
  }

  abstract item(status: ItemStatus, isEmpty?: boolean): OutputItem;
  protected abstract beginPart(): UnnumberedEvent[];
  protected abstract delta(piece: string): UnnumberedEvent[];
  protected abstract endPart(): UnnumberedEvent[];
}

/** The text of an answer. */
export class MessageItem extends BaseItem {
  override readonly kind = "message";
  readonly #logprobs: WireLogprob[] = [];
  /** Those of the last piece. */
  #last: WireLogprob[] = [];

  constructor(id: string, index: number) {
    super("msg", id, index);
  }

  override grow(piece: string, logprobs: readonly TokenLogprob[] = []): UnnumberedEvent[] {
    this.#last = toLogprobs(logprobs);
    this.#logprobs.push(...this.#last);
    return super.grow(piece);
  }

  override item(status: ItemStatus, isEmpty = false): OutputItem {
    const content = isEmpty ? [] : [this.#part()];
    return { type: "message", id: this.id, status, role: "assistant", content };
  }

  protected override beginPart(): UnnumberedEvent[] {
    return [{ type: "response.content_part.added", ...this.#address, part: this.#part() }];
  }

  protected override delta(piece: string): UnnumberedEvent[] {
    return [{
      type: "response.output_text.delta",
      ...this.#address,
      delta: piece,
      logprobs: this.#last,
    }];
  }

  protected override endPart(): UnnumberedEvent[] {
    return [
      {
        type: "response.output_text.done",
        ...this.#address,
        text: this.text,
        logprobs: [...this.#logprobs],
      },
      { type: "response.content_part.done", ...this.#address, part: this.#part() },
    ];
  }

  #part(): OutputText {
    return { type: "output_text", text: this.text, annotations: [], logprobs: [...this.#logprobs] };
  }

  get #address() {
    return { ...this.address, content_index: 0 };
  }
}

/** Thinking. */
export class ReasoningItem extends BaseItem {
  override readonly kind = "reasoning";

  constructor(id: string, index: number) {
    super("rs", id, index);
  }

  override item(status: ItemStatus, isEmpty = false): OutputItem {
    const summary = isEmpty ? [] : [this.#part()];
    return { type: "reasoning", id: this.id, status, summary };
  }

  protected override beginPart(): UnnumberedEvent[] {
    return [{
      type: "response.reasoning_summary_part.added",
      ...this.#address,
      part: this.#part(),
    }];
  }

  protected override delta(piece: string): UnnumberedEvent[] {
    return [{ type: "response.reasoning_summary_text.delta", ...this.#address, delta: piece }];
  }

  protected override endPart(): UnnumberedEvent[] {
    return [
      { type: "response.reasoning_summary_text.done", ...this.#address, text: this.text },
      { type: "response.reasoning_summary_part.done", ...this.#address, part: this.#part() },
    ];
  }

  #part(): SummaryText {
    return { type: "summary_text", text: this.text };
  }

  get #address() {
    return { ...this.address, summary_index: 0 };
  }
}

/** A call of a function. */
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

  override item(status: ItemStatus): OutputItem {
    return { type: "function_call", id: this.id, status, ...this.#call, arguments: this.text };
  }

  protected override beginPart(): UnnumberedEvent[] {
    return [];
  }

  protected override delta(piece: string): UnnumberedEvent[] {
    return [{ type: "response.function_call_arguments.delta", ...this.address, delta: piece }];
  }

  protected override endPart(): UnnumberedEvent[] {
    const { name } = this.#call;
    const members = { name, arguments: this.text };
    return [{ type: "response.function_call_arguments.done", ...this.address, ...members }];
  }
}

/** A call of a custom tool. Its input comes as a whole: it stands in JSON until then. */
export class CustomCallItem extends BaseItem {
  override readonly kind = "custom_tool_call";
  readonly #call: Pick<CalledFunction, "name" | "namespace"> & { call_id: string };
  #input = "";

  constructor(id: string, index: number, call: CalledFunction & { id: string }) {
    super("ctc", id, index);
    const { id: call_id, name, namespace } = call;
    this.#call = { call_id, name, ...(namespace && { namespace }) };
  }

  /** Takes the arguments of the call, of which the input is one. */
  take({ input }: Record<string, unknown>): void {
    this.#input = typeof input === "string" ? input : "";
  }

  override item(status: ItemStatus): OutputItem {
    return { type: "custom_tool_call", id: this.id, status, ...this.#call, input: this.#input };
  }

  protected override beginPart(): UnnumberedEvent[] {
    return [];
  }

  protected override delta(): UnnumberedEvent[] {
    return [];
  }

  protected override endPart(): UnnumberedEvent[] {
    const input = this.#input;
    return [
      { type: "response.custom_tool_call_input.delta", ...this.address, delta: input },
      { type: "response.custom_tool_call_input.done", ...this.address, input },
    ];
  }
}

/** The summary of a conversation, which comes as a whole. */
export class CompactionItem extends BaseItem {
  override readonly kind = "compaction";

  constructor(id: string, index: number) {
    super("cmp", id, index);
  }

  override item(_status: ItemStatus): OutputItem {
    return { type: "compaction", id: this.id, encrypted_content: sealSummary(this.text) };
  }

  protected override beginPart(): UnnumberedEvent[] {
    return [];
  }

  protected override delta(): UnnumberedEvent[] {
    return [];
  }

  protected override endPart(): UnnumberedEvent[] {
    return [];
  }
}
