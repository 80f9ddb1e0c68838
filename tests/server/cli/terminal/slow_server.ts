// A server whose pulls take as long as a test wants them to.

/** The server, and what a test does with it. */
export interface SlowServer extends AsyncDisposable {
  /** What OLLAMA_HOST is to be. */
  readonly host: string;
  /** Lets pulls that wait in the middle go on to their end. */
  release(): void;
  /** Whether a client has gone before the end of its pull. */
  wasCancelled(): boolean;
}

const LAYER = { status: "pulling 7cd4618c1faf", digest: "sha256:7cd4618c1faf", total: 815e6 };

/** Names of models long enough together to fill any pipe. */
const MODELS = Array.from({ length: 5000 }, (_, index) => ({
  name: `model-with-a-rather-long-name-${index}:latest`,
  digest: "0".repeat(64),
  size: 1000,
  modified_at: "2026-01-01T00:00:00Z",
}));

/** Serves pulls that stop at 43 percent until they are released. */
export function startSlowServer(): SlowServer {
  const gate = Promise.withResolvers<void>();
  let isCancelled = false;

  async function* pull(): AsyncGenerator<unknown> {
    yield { status: "pulling manifest" };
    for (let percent = 0; percent <= 43; percent++) {
      yield { ...LAYER, completed: percent * LAYER.total / 100 };
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await gate.promise;
    yield { ...LAYER, completed: LAYER.total };
    yield { status: "verifying sha256 digest" };
    yield { status: "success" };
  }

  function answer(request: Request): Response {
    const { pathname } = new URL(request.url);
    if (pathname === "/api/tags") return Response.json({ models: MODELS });
    if (pathname !== "/api/pull") return new Response("Ollama is running");
    const records = pull();
    const encoder = new TextEncoder();
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done, value } = await records.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(`${JSON.stringify(value)}\n`));
      },
      cancel: () => void (isCancelled = true),
    });
    return new Response(body, { headers: { "content-type": "application/x-ndjson" } });
  }

  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, answer);
  return {
    host: `127.0.0.1:${server.addr.port}`,
    release: () => gate.resolve(),
    wasCancelled: () => isCancelled,
    async [Symbol.asyncDispose]() {
      gate.resolve();
      await server.shutdown();
    },
  };
}
