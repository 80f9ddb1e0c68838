// What clients of the Messages API get wrong: bodies, each with the status that it is answered with and
// a part of the sentence. Used for both of its endpoints.

const messages = [{ role: "user", content: "Hi" }];
/** A body without a fault. */
export const base = { model: "tiny", max_tokens: 5, messages };
/** A tool without a fault. */
export const tool = { name: "f", input_schema: { type: "object" } };

const ofUser = (...content: object[]) => ({ ...base, messages: [{ role: "user", content }] });
const ofAssistant = (block: object) => (
  { ...base, messages: [...messages, { role: "assistant", content: [block] }] }
);
const image = (source: object) => ofUser({ type: "image", source });
const png = { type: "base64", media_type: "image/png" };

/** Body, status, part of the sentence; faults of both endpoints. */
export const FAULTS: [unknown, number, string][] = [
  ["", 400, "missing request body"],
  [" \n", 400, "missing request body"],
  ["{x", 400, "invalid JSON"],
  [[], 400, "request body must be of type object"],
  [{ ...base, model: undefined }, 400, "model is required"],
  [{ ...base, model: "" }, 400, "model is required"],
  [{ ...base, model: 5 }, 400, "model must be of type string"],
  [{ ...base, model: "a b" }, 400, "invalid model name"],
  [{ ...base, model: "x:cloud:local" }, 400, "use either :local or :cloud, not both"],
  [{ ...base, model: "gpt-oss:120b-cloud" }, 403, "cloud is disabled"],
  [{ ...base, model: "nope" }, 404, "model 'nope' not found"],
  [{ ...base, messages: undefined }, 400, "messages is required"],
  [{ ...base, messages: [] }, 400, "messages is required"],
  [{ ...base, messages: "Hi" }, 400, "messages must be of type array"],
  [{ ...base, messages: ["Hi"] }, 400, "messages[0] must be of type object"],
  [{ ...base, messages: [{ content: "x" }] }, 400, 'messages[0] lacks "role"'],
  [{ ...base, messages: [{ role: "user" }] }, 400, 'messages[0] lacks "content"'],
  [
    { ...base, messages: [{ role: "user", content: 1 }] },
    400,
    "messages[0].content must be of type",
  ],
  [{ ...base, messages: [{ role: "tool", content: "x" }] }, 400, "messages[0].role must be one of"],
  [ofUser({}), 400, 'messages[0].content[0] lacks "type"'],
  [ofUser({ type: "text" }), 400, 'messages[0].content[0] lacks "text"'],
  [ofUser({ type: "text", text: 1 }), 400, "messages[0].content[0].text must be of type string"],
  [ofUser({ type: "audio" }), 400, 'content[0]: content blocks of type "audio" are not supported'],
  [ofUser({ type: "tool_result" }), 400, 'messages[0].content[0] lacks "tool_use_id"'],
  [
    ofUser({ type: "tool_result", tool_use_id: "a", content: [{ type: "audio" }] }),
    400,
    "messages[0].content[0].content[0]: content blocks",
  ],
  [
    ofAssistant({ type: "tool_use", name: "f", input: {} }),
    400,
    "tool_use block missing required 'id' field",
  ],
  [
    ofAssistant({ type: "tool_use", id: "a", input: {} }),
    400,
    "tool_use block missing required 'name' field",
  ],
  [
    ofAssistant({ type: "tool_use", id: "a", name: "f", input: 5 }),
    400,
    "input must be of type object",
  ],
  [image({ ...png, data: "iVBORw0KGgo=" }), 400, '"tiny" does not support image input'],
  [image({ ...png, data: "iVBO\nRw0KGgo=" }), 400, '"tiny" does not support image input'],
  [image({ ...png, data: "iVB!" }), 400, "illegal base64 data at input byte 3"],
  [image({ ...png, data: "iVBORw0KGgo" }), 400, "illegal base64 data at input byte 11"],
  [
    image({ ...png, data: "data:image/png;base64,iVBORw0KGgo=" }),
    400,
    "illegal base64 data at input byte 4",
  ],
  [
    image({ type: "url", url: "http://a.example/x.png" }),
    400,
    "invalid image source type: url. Only base64 images are supported.",
  ],
  [ofUser({ type: "image" }), 400, 'messages[0].content[0] lacks "source"'],
  [
    ofUser({ type: "tool_result", tool_use_id: "a", content: [{ type: "image", source: png }] }),
    400,
    '"tiny" does not support image input',
  ],
  [
    ofUser({
      type: "document",
      source: { type: "base64", media_type: "application/pdf", data: "" },
    }),
    400,
    "PDF documents, and documents by URL or file id, are not supported",
  ],
  [ofUser({ type: "document", source: { type: "url", url: "x" } }), 400, "PDF documents"],
  [
    ofUser({ type: "document", source: "x" }),
    400,
    "messages[0].content[0].source must be of type object",
  ],
  [
    ofUser({ type: "search_result", source: { type: "text", data: "x" }, title: "t", content: [] }),
    400,
    "messages[0].content[0].source must be of type string",
  ],
  [{ ...base, system: 1 }, 400, "system must be of type string or array"],
  [{ ...base, system: [{ type: "image", source: png }] }, 400, "does not support image input"],
  [{ ...base, tools: {} }, 400, "tools must be of type array"],
  [{ ...base, tools: [{}] }, 400, 'tools[0] lacks "name"'],
  [
    { ...base, tools: [{ name: "f" }] },
    400,
    'invalid input_schema for tool "f": it must be an object',
  ],
  [
    { ...base, tools: [{ name: "f", input_schema: { type: "string" } }] },
    400,
    'invalid input_schema for tool "f": its type must be "object"',
  ],
  [
    { ...base, tools: [{ name: "f", input_schema: { properties: [] } }] },
    400,
    'invalid input_schema for tool "f": its properties must be an object',
  ],
  [
    { ...base, tools: [{ name: "f", input_schema: { required: "a" } }] },
    400,
    'invalid input_schema for tool "f": required must be a list',
  ],
  [
    { ...base, tools: [{ type: "web_search_20250305", name: "web_search" }] },
    400,
    'tool "web_search" is of type "web_search_20250305"',
  ],
  [
    { ...base, mcp_servers: [{ type: "url", url: "https://x.test", name: "x" }] },
    400,
    "mcp_servers is not supported",
  ],
  [{ ...base, container: "c_1" }, 400, "container is not supported"],
  [{ ...base, tool_choice: { type: "all" } }, 400, "tool_choice.type must be one of auto, any"],
  [{ ...base, tool_choice: { type: "any" } }, 400, 'tool_choice "any" needs tools'],
  [{ ...base, tools: [tool], tool_choice: { type: "tool" } }, 400, 'tool_choice lacks "name"'],
  [
    { ...base, tools: [tool], tool_choice: { type: "tool", name: "g" } },
    400,
    'tool_choice: no tool is named "g"',
  ],
  [{ ...base, thinking: { type: "on" } }, 400, "thinking.type must be one of enabled, disabled"],
  [{ ...base, temperature: "hot" }, 400, "temperature must be of type number"],
  [{ ...base, top_k: 1.5 }, 400, "top_k must be of type integer"],
  [{ ...base, stop_sequences: "x" }, 400, "stop_sequences must be of type array"],
  [{ ...base, stop_sequences: [1] }, 400, "stop_sequences[0] must be of type string"],
  [{ ...base, options: { seed: "x" } }, 400, 'option "seed" must be of type integer'],
  [{ ...base, keep_alive: "soon" }, 400, 'keep_alive: time: invalid duration "soon"'],
  [
    { ...base, output_config: { format: { type: "xml", schema: {} } } },
    400,
    "must be one of json_schema",
  ],
  [{ ...base, output_config: { format: { type: "json_schema" } } }, 400, 'format lacks "schema"'],
];
