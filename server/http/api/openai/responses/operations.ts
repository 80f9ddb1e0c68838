// The operations of OpenAI's responses (https://platform.openai.com/docs/api-reference/responses).

import { named, type Operation, type Parameter } from "../../openapi/operation.ts";
import { openAiErrors, openAiPost, wholeOrEvents } from "../operations.ts";
import {
  conversationItemsSchema,
  conversationSchema as conversationRequestSchema,
  conversationUpdateSchema,
  openAiResponsesSchema,
} from "../schema.ts";
import {
  compactedSchema,
  conversationSchema,
  deletedConversationSchema,
  deletedResponseSchema,
  inputItemsSchema,
  inputTokensSchema,
  keptItem,
  type ResponseEvent,
  responseEventSchema,
  responseSchema,
  type WholeResponse,
} from "./answer_schema.ts";
import { ResponsesEncoder } from "./events.ts";
import { listOf, toConversationId, toKeptItems, toResponseId } from "./kept_items.ts";

/** The model of examples: the one in the box. */
const model = "quern:tiny";
const question = "How do I pull a model?";
const said = "Run `quern pull NAME`.";
const created = 1_795_413_005;

const ID = "0".repeat(48);
const RESPONSE_ID = toResponseId(ID);
const responseRequest = { model, input: question };
const textEvent: ResponseEvent = {
  type: "response.output_text.delta",
  sequence_number: 4,
  item_id: `msg_${ID}0`,
  output_index: 0,
  content_index: 0,
  delta: "Run",
  logprobs: [],
};

const request = named("ResponseRequest", openAiResponsesSchema, responseRequest);
const response = named("Response", responseSchema, exampleResponse());
const event = named("ResponseEvent", responseEventSchema, textEvent);

/** A response as the server makes it. */
function exampleResponse(): WholeResponse {
  const now = () => new Date(created * 1000);
  const head = { id: ID, model, now, elapsed: () => 0, loadMilliseconds: 0 };
  const answer = new ResponsesEncoder(head, responseRequest);
  answer.add({ type: "text", text: said });
  answer.add({
    type: "done",
    reason: "stop",
    usage: {
      promptTokens: 15,
      cachedTokens: 0,
      completionTokens: 12,
      promptMilliseconds: 57,
      completionMilliseconds: 132,
    },
  });
  return answer.whole()!;
}

function ofKept(
  operation: Omit<Operation, "tag" | "error">,
): Operation {
  return { tag: "OpenAI", error: openAiErrors, failures: ["response"], ...operation };
}

const conversationPath = "/v1/conversations/{conversation_id}";
const conversation = named("Conversation", conversationSchema, {
  id: toConversationId(ID),
  object: "conversation",
  created_at: created,
  metadata: { user: "7" },
});
const items = toKeptItems(question, ID, []);
const listed = named("InputItems", inputItemsSchema, listOf(items, false));
const turn = { role: "user", content: question };

const PAGE: Parameter[] = [
  {
    name: "limit",
    in: "query",
    description: "How many items.",
    schema: { type: "integer", minimum: 1, maximum: 100, default: 20 },
  },
  {
    name: "order",
    in: "query",
    description: "The last items first, or the first.",
    schema: { enum: ["desc", "asc"], default: "desc" },
  },
  {
    name: "after",
    in: "query",
    description: "Id of the item after which to go on.",
    schema: { type: "string" },
  },
];

/** OpenAI's responses. */
export const responseOperations: Operation[] = [
  openAiPost({
    id: "createResponse",
    path: "/v1/responses",
    summary: "Answer a conversation of items. The response is kept, unless store is false.",
    body: request,
    answers: wholeOrEvents(response, event),
  }),
  openAiPost({
    id: "compactResponse",
    path: "/v1/responses/compact",
    summary: "Have the model sum a conversation up, to go on with less of it.",
    body: request,
    answers: {
      "application/json": named("Compacted", compactedSchema, {
        id: RESPONSE_ID,
        object: "response.compaction",
        created_at: created,
        output: [{ type: "compaction", id: `cmp_${ID}0`, encrypted_content: "quern:U2hvcnQu" }],
        usage: null,
      }),
    },
  }),
  openAiPost({
    id: "countInputTokens",
    path: "/v1/responses/input_tokens",
    summary: "Count the tokens of what POST /v1/responses would read.",
    body: request,
    answers: {
      "application/json": named("InputTokens", inputTokensSchema, {
        object: "response.input_tokens",
        input_tokens: 15,
      }),
    },
  }),
  ofKept({
    id: "retrieveResponse",
    method: "get",
    path: "/v1/responses/{response_id}",
    summary: "Give a response that is kept, or made in the background, or the rest of its stream.",
    parameters: [
      {
        name: "stream",
        in: "query",
        description: "Give the events of a response that is made in the background.",
        schema: { type: "boolean", default: false },
      },
      {
        name: "starting_after",
        in: "query",
        description: "The sequence number of the last event that has come. Default: none has.",
        schema: { type: "integer", minimum: 0 },
      },
    ],
    answers: wholeOrEvents(response, event),
    failures: ["response"],
  }),
  ofKept({
    id: "cancelResponse",
    method: "post",
    path: "/v1/responses/{response_id}/cancel",
    summary: "End a response that is made in the background; one that has ended stays as it is.",
    answers: { "application/json": response },
    failures: ["response"],
  }),
  ofKept({
    id: "deleteResponse",
    method: "delete",
    path: "/v1/responses/{response_id}",
    summary: "Drop a response that is kept.",
    answers: {
      "application/json": named("DeletedResponse", deletedResponseSchema, {
        id: RESPONSE_ID,
        object: "response",
        deleted: true,
      }),
    },
  }),
  ofKept({
    id: "listInputItems",
    method: "get",
    path: "/v1/responses/{response_id}/input_items",
    summary: "List what went into a response that is kept, earlier turns included.",
    parameters: PAGE,
    answers: { "application/json": listed },
  }),
  ofKept({
    id: "createConversation",
    method: "post",
    path: "/v1/conversations",
    summary: "Keep a conversation, to which responses add what was said.",
    body: named("ConversationRequest", conversationRequestSchema, { items: [turn] }),
    answers: { "application/json": conversation },
    failures: ["response", "disk"],
  }),
  ofKept({
    id: "retrieveConversation",
    method: "get",
    path: conversationPath,
    summary: "Give a conversation, without what is said in it.",
    answers: { "application/json": conversation },
  }),
  ofKept({
    id: "updateConversation",
    method: "post",
    path: conversationPath,
    summary: "Replace the metadata of a conversation.",
    body: named("ConversationUpdate", conversationUpdateSchema, { metadata: { user: "7" } }),
    answers: { "application/json": conversation },
    failures: ["response", "disk"],
  }),
  ofKept({
    id: "deleteConversation",
    method: "delete",
    path: conversationPath,
    summary: "Drop a conversation with what is said in it.",
    answers: {
      "application/json": named("DeletedConversation", deletedConversationSchema, {
        id: toConversationId(ID),
        object: "conversation.deleted",
        deleted: true,
      }),
    },
  }),
  ofKept({
    id: "listConversationItems",
    method: "get",
    path: `${conversationPath}/items`,
    summary: "List what is said in a conversation.",
    parameters: PAGE,
    answers: { "application/json": listed },
  }),
  ofKept({
    id: "createConversationItems",
    method: "post",
    path: `${conversationPath}/items`,
    summary: "Add to a conversation.",
    body: named("ConversationItemsRequest", conversationItemsSchema, { items: [turn] }),
    answers: { "application/json": listed },
    failures: ["response", "disk"],
  }),
  ofKept({
    id: "retrieveConversationItem",
    method: "get",
    path: `${conversationPath}/items/{item_id}`,
    summary: "Give an item of a conversation.",
    answers: { "application/json": named("ConversationItem", keptItem, items[0]!) },
  }),
  ofKept({
    id: "deleteConversationItem",
    method: "delete",
    path: `${conversationPath}/items/{item_id}`,
    summary: "Drop an item of a conversation.",
    answers: { "application/json": conversation },
    failures: ["response", "disk"],
  }),
];
