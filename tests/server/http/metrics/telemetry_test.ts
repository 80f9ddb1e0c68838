// Traces by OTLP, as a collector receives them: from a gateway that is a Quern, whose model runs on another
// Quern, to the steps there.

import { assert, assertEquals } from "@std/assert";
import { parseTraceparent } from "../../../../server/http/metrics/telemetry.ts";
import { until } from "../../../until.ts";
import { withServeProcess } from "../../serve_process.ts";

type Value = { stringValue?: string; intValue?: string; doubleValue?: number };

/** A span as OTLP has it in JSON. */
interface ExportedSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string;
  name: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: Value }[];
  status?: { code?: number };
}

/** Receives what exporters send, until it is disposed of. */
class Collector implements AsyncDisposable {
  readonly spans: (ExportedSpan & { service: string })[] = [];
  readonly metrics = new Set<string>();
  readonly #server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request) => {
      const body = await request.json();
      for (const { resource, scopeSpans } of body.resourceSpans ?? []) {
        const service = attribute(resource, "service.name")!.stringValue!;
        for (const { spans } of scopeSpans) {
          this.spans.push(...spans.map((span: ExportedSpan) => ({ ...span, service })));
        }
      }
      for (const { scopeMetrics } of body.resourceMetrics ?? []) {
        for (const { metrics } of scopeMetrics) {
          for (const { name } of metrics) this.metrics.add(name);
        }
      }
      return Response.json({});
    },
  );

  /** What a shell sets for a program that exports to it. */
  settings(service: string): string {
    return `export OTEL_DENO=true OTEL_SERVICE_NAME=${service} OTEL_BSP_SCHEDULE_DELAY=50 ` +
      "OTEL_METRIC_EXPORT_INTERVAL=200 OTEL_EXPORTER_OTLP_PROTOCOL=http/json " +
      `OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:${this.#server.addr.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}

function attribute(of: { attributes: ExportedSpan["attributes"] }, key: string): Value | undefined {
  return of.attributes.find((attribute) => attribute.key === key)?.value;
}

function numberOf(span: ExportedSpan, key: string): number {
  const { intValue, doubleValue } = attribute(span, key)!;
  return doubleValue ?? Number(intValue);
}

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const CALLER = "b7ad6b7169203331";

Deno.test("a request is one trace, from a gateway over another server to the steps of its worker", async () => {
  await using collector = new Collector();
  const logs = await Deno.makeTempFile();
  const before = (service: string) => collector.settings(service);
  await withServeProcess({ before: before("replica") }, async (replica) => {
    const { host } = new URL(replica);
    const gateway = {
      before: `${before("gateway")} OLLAMA_REMOTES=${host}`,
      redirection: `2>${logs}`,
    };
    await withServeProcess(gateway, async (url) => {
      const made = await fetch(`${url}/api/create`, {
        method: "POST",
        body: JSON.stringify({
          model: "far",
          from: "quern:tiny",
          remote_host: replica,
          stream: false,
        }),
      });
      assertEquals(made.status, 200, await made.text());
      const answer = await fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        headers: { traceparent: `00-${TRACE}-${CALLER}-01` },
        body: JSON.stringify({
          model: "far",
          messages: [{ role: "user", content: "Hi" }],
          max_tokens: 5,
        }),
      });
      assertEquals(answer.status, 200);
      const { usage } = await answer.json();
      const own = () => collector.spans.filter(({ traceId }) => traceId === TRACE);
      const find = (service: string, name: RegExp) =>
        own().find((span) => span.service === service && name.test(span.name));
      // They come in any order, and not all at once.
      const parts = ["chat", "load", "queue", "prefill", "step"].map((name) =>
        RegExp(`^${name}\\b`)
      );
      await until(
        () =>
          [...parts, /^POST /].every((name) => find("replica", name)) &&
          find("gateway", /^POST \/v1/) !== undefined &&
          collector.metrics.has("gen_ai.server.time_to_first_token"),
        "both servers have exported",
      );

      // Every span leads to the caller's, over the gateway.
      const byId = new Map(own().map((span) => [span.spanId, span]));
      const pathOf = (span?: ExportedSpan): string[] =>
        span ? [...pathOf(byId.get(span.parentSpanId)), span.name] : [];
      const root = find("gateway", /^POST \/v1/)!;
      assertEquals([root.name, root.parentSpanId], ["POST /v1/chat/completions", CALLER]);
      const step = find("replica", /^step$/);
      const path = pathOf(step);
      assertEquals(path[0], root.name);
      assert(/^POST \//.test(path.at(-4)!), path.join(" > "));
      assertEquals(path.slice(-3), [path.at(-3)!, path.at(-2)!, "step"]);
      assertEquals(path.at(-3), "chat quern:tiny");
      assert(["prefill", "decode"].includes(path.at(-2)!));

      const generation = find("replica", /^chat /)!;
      assertEquals(
        numberOf(generation, "gen_ai.usage.input_tokens"),
        usage.prompt_tokens,
      );
      assertEquals(
        numberOf(generation, "gen_ai.usage.output_tokens"),
        usage.completion_tokens,
      );
      for (const span of own()) {
        assert(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano), span.name);
      }
      const steps = own().filter(({ name, service }) => name === "step" && service === "replica");
      const tokens = steps.reduce(
        (sum, span) => sum + numberOf(span, "quern.tokens"),
        0,
      );
      assert(tokens >= usage.completion_tokens, `${tokens} rows`);

      // Whoever only looks whether the server is well is not traced.
      await (await fetch(`${url}/health`)).text();
      await (await fetch(`${url}/api/tags`)).text();
      await until(
        () => collector.spans.some(({ name }) => name === "GET /api/tags"),
        "/api/tags is exported",
      );
      assert(!collector.spans.some(({ name }) => name.includes("/health")));
    });
  });
  assert((await Deno.readTextFile(logs)).includes(`trace ${TRACE}`));
  await Deno.remove(logs);
});

Deno.test("parseTraceparent() reads what names a span, and nothing else", () => {
  const of = (...parts: string[]) => parseTraceparent(parts.join("-"));
  assertEquals(of("00", TRACE, CALLER, "01"), { traceId: TRACE, spanId: CALLER, traceFlags: 1 });
  assertEquals(of("00", TRACE, CALLER, "00")?.traceFlags, 0);
  assertEquals(of("01", TRACE, CALLER, "03", "later")?.traceFlags, 1);
  assertEquals(parseTraceparent(undefined), undefined);
  const wrong = [
    ["00", TRACE, CALLER, "01", "more"],
    ["ff", TRACE, CALLER, "01"],
    ["00", "0".repeat(32), CALLER, "01"],
    ["00", TRACE, "0".repeat(16), "01"],
    ["00", TRACE.toUpperCase(), CALLER, "01"],
    ["00", TRACE.slice(1), CALLER, "01"],
    ["00", TRACE, CALLER],
  ];
  for (const parts of wrong) assertEquals(of(...parts), undefined, parts.join("-"));
});
