// JSON Schemas of what clients ask of streams that they can take up again, and of what they are told.
// Format: llama-server's tools/server/README-dev.md

import { type BodyOf, closed, list } from "../../body/schema.ts";
import { count, flag, list as array, record, text } from "../openapi/answer_parts.ts";
import { streamOfOne } from "../unread_members.ts";

/** Body of POST /v1/streams/lookup. */
export const lookupSchema = closed({
  conversation_ids: {
    ...list({ type: "string" }),
    description: "Conversations as x-conversation-id named them; each also stands for those that " +
      'begin with it and "::".',
  },
  stream: streamOfOne,
});

/** Answer of POST /v1/streams/lookup. */
export const streamsSchema = array(record({
  conversation_id: { ...text, description: "As the header x-conversation-id named it." },
  is_done: { ...flag, description: "Whether its answer has ended." },
  total_bytes: { ...count, description: "Bytes of its stream so far." },
  started_at: { ...count, description: "Seconds since 1970." },
  completed_at: { ...count, description: "Likewise; 0 while it is being made." },
}));

/** Streams of conversations. */
export type Streams = BodyOf<typeof streamsSchema>;
