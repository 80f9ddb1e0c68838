// OpenAI's conversations: what responses add to, kept beside them, and changed by the routes here.
// Format: https://platform.openai.com/docs/api-reference/conversations

import { Hono } from "../../../../dependencies.ts";
import type { AppDependencies, AppEnvironment } from "../../../app_types.ts";
import { readBody } from "../../../body/bodies.ts";
import { parseBytes, readJson } from "../../../body/json_body.ts";
import { createValidator } from "../../../body/validate.ts";
import { HttpError } from "../../../errors.ts";
import { ResponseStore } from "../../../response_store.ts";
import { json } from "../../../stream/json.ts";
import { refusal } from "../errors.ts";
import { toSeconds } from "../answer.ts";
import {
  conversationItemsSchema,
  conversationSchema,
  conversationUpdateSchema,
  type InputItem,
} from "../schema.ts";
import type { Conversation, DeletedConversation, InputItems, KeptItem } from "./answer_schema.ts";
import { checkItems } from "./body.ts";
import { fromConversationId, listOf, toItemList, toKeptItems } from "./kept_items.ts";
import { type KeptConversation, KeptResponses } from "./kept_responses.ts";

const validateCreate = createValidator(conversationSchema);
const validateUpdate = createValidator(conversationUpdateSchema);
const validateItems = createValidator(conversationItemsSchema);

/** Routes of OpenAI's conversations. */
export function conversationRoutes(dependencies: AppDependencies): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();
  const keptFor = KeptResponses.of(dependencies);
  const one = "/v1/conversations/:conversation_id";

  app.post("/v1/conversations", async (context) => {
    const { body: allowance } = context.var;
    const bytes = await readBody(context.req.raw, allowance);
    const given = bytes.length === 0 ? {} : await parseBytes(bytes, allowance);
    const { items, metadata } = await validateCreate(given);
    const kept = keptFor(context);
    const conversation: KeptConversation = {
      metadata: metadata ?? {},
      items: toKeptItems(await readItems(items ?? [], kept), ResponseStore.newId(), []),
    };
    return json<Conversation>(toWire(await kept.begin(conversation), conversation));
  });

  app.get(one, async (context) => {
    const id = context.req.param("conversation_id");
    return json<Conversation>(toWire(id, await keptFor(context).conversation(id)));
  });

  app.post(one, async (context) => {
    const id = context.req.param("conversation_id");
    const { metadata } = await validateUpdate(await readJson(context));
    if (metadata === undefined) throw refusal("metadata is required", "metadata");
    const changed = await keptFor(context).change(id, (conversation) => {
      conversation.metadata = metadata ?? {};
    });
    return json<Conversation>(toWire(id, changed));
  });

  app.delete(one, async (context) => {
    const id = context.req.param("conversation_id");
    await keptFor(context).deleteConversation(id);
    return json<DeletedConversation>({ id, object: "conversation.deleted", deleted: true });
  });

  app.get(`${one}/items`, async (context) => {
    const { items } = await keptFor(context).conversation(context.req.param("conversation_id"));
    return json<InputItems>(toItemList(items, context.req.query()));
  });

  app.post(`${one}/items`, async (context) => {
    const { items: given } = await validateItems(await readJson(context));
    if (!given) throw refusal("items is required", "items");
    const kept = keptFor(context);
    const items = await readItems(given, kept);
    let added: KeptItem[] = [];
    await kept.change(context.req.param("conversation_id"), (conversation) => {
      added = toKeptItems(items, ResponseStore.newId(), conversation.items);
      conversation.items = [...conversation.items, ...added];
    });
    return json<InputItems>(listOf(added, false));
  });

  app.get(`${one}/items/:item_id`, async (context) => {
    const { conversation_id: id, item_id: itemId } = context.req.param();
    const conversation = await keptFor(context).conversation(id);
    return json<KeptItem>(conversation.items[indexOf(itemId, id, conversation)]!);
  });

  app.delete(`${one}/items/:item_id`, async (context) => {
    const { conversation_id: id, item_id: itemId } = context.req.param();
    const changed = await keptFor(context).change(id, (conversation) => {
      conversation.items.splice(indexOf(itemId, id, conversation), 1);
    });
    return json<Conversation>(toWire(id, changed));
  });
  return app;
}

/** The items of a body, of which it is sure that responses can go on from them. */
async function readItems(items: InputItem[], kept: KeptResponses): Promise<InputItem[]> {
  const resolved = await kept.resolved(items, "items") as InputItem[];
  checkItems(resolved, "items");
  return resolved;
}

/** @throws {HttpError} 404 if the conversation has no such item */
function indexOf(itemId: string, id: string, { items }: KeptConversation): number {
  const index = items.findIndex((item) => item.id === itemId);
  if (index >= 0) return index;
  throw new HttpError(
    404,
    `conversation '${id}' has no item '${itemId}': GET /v1/conversations/${id}/items lists them`,
  );
}

/** A conversation that is kept, as clients see it. */
function toWire(id: string, { metadata }: KeptConversation): Conversation {
  const made = ResponseStore.madeAt(fromConversationId(id)!)!;
  return { id, object: "conversation", created_at: toSeconds(made), metadata };
}
