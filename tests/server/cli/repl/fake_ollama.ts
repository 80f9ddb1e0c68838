// A server with Ollama's API and without a model: it streams the words it is told to, as slowly as it
// is told to, and remembers what it was asked. Used in this process and, behind a port, from tmux.
import { parseExactJson } from "../../../../tokenizer/mod.ts";

/** A request that came. */
export interface FakeRequest {
  path: string;
  // deno-lint-ignore no-explicit-any
  body: any;
}

/** What the server says. */
export interface FakeOllamaOptions {
  /** Pieces of an answer; a function may give others for each request. */
  words?: string[] | ((request: FakeRequest) => string[]);
  thinking?: string[];
  /** Milliseconds before each piece. */
  delay?: number;
  /** Ends the stream after the words with this error. */
  error?: string;
  /** What /api/show says of a model. */
  facts?: Record<string, unknown>;
  /** How far the model of all requests is loaded, which it stays. */
  loading?: { completed: number; total: number };
  /** Requests that come before those for an answer. */
  ahead?: number;
  /** Names that are there; `pull` adds to them. Default: all. */
  models?: string[];
}

const METRICS = {
  total_duration: 3e9,
  load_duration: 1e9,
  prompt_eval_count: 10,
  prompt_eval_duration: 5e8,
  eval_count: 30,
  eval_duration: 15e8,
};

/** The server. */
export class FakeOllama {
  readonly requests: FakeRequest[] = [];
  options: FakeOllamaOptions;
  /** Answers that were cut by the client. */
  cut = 0;

  constructor(options: FakeOllamaOptions = {}) {
    this.options = options;
  }

  /** Bodies of the requests for answers, without those that only load. */
  // deno-lint-ignore no-explicit-any
  get asked(): any[] {
    return this.requests.map(({ body }) => body).filter((body) =>
      body?.messages?.length || typeof body?.prompt === "string"
    );
  }

  readonly handle = async (request: Request): Promise<Response> => {
    const path = new URL(request.url).pathname;
    const text = await request.text();
    const asked = { path, body: text ? parseExactJson(text) : undefined };
    if (path === "/") return new Response("Ollama is running");
    if (path === "/api/ps") {
      const { loading } = this.options;
      return Response.json({ models: [{ name: "tiny:latest", ...(loading && { loading }) }] });
    }
    this.requests.push(asked);
    return this.#answer(asked);
  };

  #answer(asked: FakeRequest): Response {
    const { models, facts } = this.options;
    const { path } = asked;
    if (path === "/api/tags") {
      return Response.json({ models: (models ?? []).map((name) => ({ name })) });
    }
    const { body: { model, messages, prompt, stream } } = asked;
    if (path === "/api/pull") return this.#pull(model);
    if (models && !models.includes(model)) {
      return Response.json({ error: `model '${model}' not found` }, { status: 404 });
    }
    if (path === "/api/show") {
      return Response.json({ capabilities: ["completion"], template: "{{ .Prompt }}", ...facts });
    }
    if (path === "/api/embed") return Response.json({ model, embeddings: [[0.5, -0.25]] });
    if (path === "/api/create") return Response.json({ status: "success" });
    if (stream === false || (prompt === undefined && !messages?.length)) {
      return Response.json({ model, response: "", done: true, done_reason: "load" });
    }
    return this.#stream(asked);
  }

  #pull(model: string): Response {
    const { models = [] } = this.options;
    const digest = `sha256:${"0".repeat(64)}`;
    if (model.startsWith("missing")) {
      return ndjson([{ status: "pulling manifest" }, {
        error: "pull model manifest: file does not exist",
      }]);
    }
    models.push(model);
    return ndjson([
      { status: "pulling manifest" },
      { status: "pulling 000000000000", digest, total: 100, completed: 100 },
      { status: "success" },
    ]);
  }

  #stream(asked: FakeRequest): Response {
    const { words = ["Hel", "lo"], thinking = [], delay = 0, error, ahead } = this.options;
    const said = typeof words === "function" ? words(asked) : words;
    const form = (content: string, thought = "") =>
      asked.path === "/api/chat"
        ? { message: { role: "assistant", content, ...(thought && { thinking: thought }) } }
        : { response: content, ...(thought && { thinking: thought }) };
    const records = [
      ...(ahead === undefined ? [] : [{ ...form(""), done: false, queued_ahead: ahead }]),
      ...thinking.map((thought) => ({ ...form("", thought), done: false })),
      ...said.map((word) => ({ ...form(word), done: false })),
      error ? { error } : { ...form(""), done: true, done_reason: "stop", ...METRICS },
    ];
    return ndjson(records, delay, () => this.cut++);
  }
}

function ndjson(records: unknown[], delay = 0, onCancel = () => {}): Response {
  const rest = [...records];
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
      const record = rest.shift();
      if (record === undefined) controller.close();
      else controller.enqueue(encoder.encode(JSON.stringify(record) + "\n"));
    },
    cancel: onCancel,
  });
  return new Response(body, { headers: { "content-type": "application/x-ndjson" } });
}
