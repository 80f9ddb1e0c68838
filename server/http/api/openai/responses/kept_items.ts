// The items of a conversation as they are kept and listed, in the form in which OpenAI lists them.
// The id of an item contains the id of its response, so that an item is found by its id alone.
// Pure.
// Format: https://platform.openai.com/docs/api-reference/responses

import { refusal } from "../errors.ts";
import type { Given } from "../../../body/schema.ts";
import type { Content, ContentPart, InputItem, ResponsesBody } from "../schema.ts";
import type { InputItems, KeptItem, KeptPart } from "./answer_schema.ts";

/** The prefixes of the ids of responses and conversations. */
const RESPONSE_PREFIX = "resp_";
const CONVERSATION_PREFIX = "conv_";

/**
 * The id of an item: `msg_`, the id of its response, `i` if it is of the input, and the item's
 * number.
 */
const ITEM_ID = /^[a-z]+_([0-9a-f]{48})i?\d+$/;

/** The prefixes of ids that are made here, by the type of the item. */
const PREFIXES: Record<string, string> = {
  message: "msg",
  reasoning: "rs",
  function_call: "fc",
  function_call_output: "fco",
  custom_tool_call: "ctc",
  custom_tool_call_output: "ctco",
  compaction: "cmp",
};

type Role = (KeptItem & { type: "message" })["role"];

const ROLES: readonly Role[] = ["system", "developer", "user", "assistant"];

/** The type of a part that is text. */
type TextType = Exclude<KeptPart["type"], "refusal" | "input_image" | "input_audio">;

/** The id of a response as clients see it. */
export function toResponseId(id: string): string {
  return RESPONSE_PREFIX + id;
}

/** The id without its prefix; undefined for a text that is no id of a response. */
export function fromResponseId(text: string): string | undefined {
  return text.startsWith(RESPONSE_PREFIX) ? text.slice(RESPONSE_PREFIX.length) : undefined;
}

/** The id of a conversation as clients see it. */
export function toConversationId(id: string): string {
  return CONVERSATION_PREFIX + id;
}

/** The id without its prefix; undefined for a text that is no id of a conversation. */
export function fromConversationId(text: string): string | undefined {
  return text.startsWith(CONVERSATION_PREFIX) ? text.slice(CONVERSATION_PREFIX.length) : undefined;
}

/** Id of the conversation that a request belongs to. */
export function conversationOf({ conversation }: ResponsesBody): string | undefined {
  return (typeof conversation === "string" ? conversation : conversation?.id) || undefined;
}

/** The response that an item came out of or went into, by the item's id. */
export function responseOfItem(itemId: string): string | undefined {
  return ITEM_ID.exec(itemId)?.[1];
}

/** Whether an item refers to an earlier one by its id. Its type may be left out. */
export function isReference({ type, id, role, content }: InputItem): boolean {
  return type === "item_reference" ||
    (type == null && role == null && content == null && id != null);
}

/**
 * The items of an input, each with an id that no other has.
 *
 * @param id of the response that it is for, or another that is made for these items
 * @param earlier the items before them
 */
export function toKeptItems(
  input: ResponsesBody["input"],
  id: string,
  earlier: readonly KeptItem[],
): KeptItem[] {
  const given = typeof input === "string" ? [{ role: "user", content: input }] : input ?? [];
  const items = given.filter(({ type }: InputItem) => type !== "compaction_trigger");
  const taken = new Set(earlier.map((item) => item.id));
  return items.map((item: InputItem, index) => {
    const type = item.type ?? "message";
    const isNew = item.id && !taken.has(item.id);
    const own = isNew ? item.id! : `${PREFIXES[type] ?? "item"}_${id}i${index}`;
    taken.add(own);
    return toKeptItem(item, type, own);
  });
}

function toKeptItem(item: InputItem, type: string, id: string): KeptItem {
  const { role, content, summary, call_id, name, namespace, output } = item;
  const status = "completed";
  switch (type) {
    case "reasoning":
      return {
        id,
        type,
        summary: partsOf(summary, "summary_text"),
        ...(content?.length && { content: partsOf(content, "reasoning_text") }),
      };
    case "function_call":
      return {
        id,
        type,
        status,
        call_id: call_id ?? "",
        name: name ?? "",
        ...(namespace && { namespace }),
        arguments: item.arguments ?? "",
      };
    case "custom_tool_call":
      return {
        id,
        type,
        status,
        call_id: call_id ?? "",
        name: name ?? "",
        ...(namespace && { namespace }),
        input: item.input ?? "",
      };
    case "compaction":
      return { id, type, encrypted_content: item.encrypted_content ?? "" };
    case "function_call_output":
    case "custom_tool_call_output":
      return {
        id,
        type,
        status,
        call_id: call_id ?? "",
        output: typeof output === "string" ? output : partsOf(output, "input_text"),
      };
    default: {
      const kind = role === "assistant" ? "output_text" : "input_text";
      return { id, type: "message", status, role: roleOf(role), content: partsOf(content, kind) };
    }
  }
}

/** The role of a message; that it is one was checked when the message was read. */
function roleOf(role: Given<string>): Role {
  return ROLES.find((known) => known === role) ?? "user";
}

/** The parts of a content, its texts being of this type. */
function partsOf(content: Content, type: TextType): KeptPart[] {
  const parts = typeof content === "string" ? [{ type, text: content }] : content ?? [];
  return parts.map((part) => toKeptPart(part, type));
}

function toKeptPart(
  { type, text, refusal, image_url: image, input_audio: sound }: ContentPart,
  kind: TextType,
): KeptPart {
  if (type === "refusal") return { type, refusal: refusal ?? "" };
  if (type === "input_image" || type === "image_url") {
    const url = typeof image === "string" ? image : image?.url;
    return { type: "input_image", image_url: url ?? "", detail: "auto" };
  }
  if (type === "input_audio") {
    return { type, input_audio: { data: sound?.data ?? "", format: sound?.format ?? "wav" } };
  }
  if (kind !== "output_text") return { type: kind, text: text ?? "" };
  return { type: kind, text: text ?? "", annotations: [], logprobs: [] };
}

/** The part of an input's items that is asked for. */
export interface ItemsQuery {
  limit?: string | undefined;
  order?: string | undefined;
  after?: string | undefined;
}

const MOST_ITEMS = 100;

/**
 * A page of items, the last ones first unless the order says otherwise.
 *
 * @throws {HttpError} 400 for a query that is none
 */
export function toItemList(items: readonly KeptItem[], query: ItemsQuery): InputItems {
  const { limit = "20", order = "desc", after } = query;
  const most = Number(limit);
  if (!/^\d+$/.test(limit) || most < 1 || most > MOST_ITEMS) {
    throw refusal(`limit must be a whole number between 1 and ${MOST_ITEMS}`, "limit");
  }
  if (order !== "asc" && order !== "desc") throw refusal("order must be asc or desc", "order");
  const sorted = order === "asc" ? items : items.toReversed();
  const index = after === undefined ? -1 : sorted.findIndex(({ id }) => id === after);
  if (after !== undefined && index < 0) {
    throw refusal(`after: there is no item '${after}' here: name one that was listed`, "after");
  }
  const end = index + 1 + most;
  return listOf(sorted.slice(index + 1, end), end < sorted.length);
}

/** A list of items. */
export function listOf(data: KeptItem[], hasMore: boolean): InputItems {
  return {
    object: "list",
    data,
    first_id: data.at(0)?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: hasMore,
  };
}
