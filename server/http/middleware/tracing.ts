// A trace of each request: a span of the server, of the generation in it, and of what that consists of, as
// far as the model's worker has told: loading, waiting, reading the prompt, answering, and the steps of
// both. Names are OpenTelemetry's for HTTP and for generative AI.
// https://opentelemetry.io/docs/specs/semconv/gen-ai

import type { StepSpan, Usage } from "../../../engine/mod.ts";
import { type MiddlewareHandler, routePath } from "../../dependencies.ts";
import {
  type Attributes,
  type Distribution,
  parseTraceparent,
  type Span,
  SpanKind,
  STATUS_ERROR,
  type Telemetry,
} from "../metrics/telemetry.ts";
import { messageOf } from "../../log.ts";
import type { Generation } from "../generation/generation.ts";
import { SECONDS } from "../metrics/exposition.ts";
import { type AccessVariables, shownPath, whenAnswered } from "./variables.ts";

/** Routes that machines ask again and again, which are traced only as a part of somebody's trace. */
const QUIET = /^\/(health(\/.*)?|metrics|api\/version)?$/;

/** Routes whose prompts are texts, not conversations. */
const COMPLETIONS = /\/(generate|completions?|infill)$/;

/** Middleware that traces requests. @param telemetry undefined: it only notes whose trace they are a part of */
export function tracing(
  telemetry: Telemetry | undefined,
): MiddlewareHandler<{ Variables: AccessVariables }> {
  const measures = telemetry && new Measures(telemetry);
  return async (context, next) => {
    const { method, path } = context.req;
    const parent = parseTraceparent(context.req.header("traceparent"));
    if (parent) context.set("traceId", parent.traceId);
    if (!telemetry || !parent && QUIET.test(path)) return await next();
    const attributes = { "http.request.method": method, "url.path": shownPath(context) };
    const span = telemetry.start(method, { parent, kind: SpanKind.server, attributes });
    const { traceId } = span.spanContext();
    context.set("traceId", traceId);
    context.set("wantsTimeline", span.isRecording());
    const came = performance.now();
    await telemetry.within(span, next);
    const route = routePath(context, -1).replace(/^\/?\*$/, "other");
    whenAnswered(context, () => {
      const { generation, model, lateStatus: status = context.res.status } = context.var;
      span.updateName(`${method} ${route}`);
      span.setAttributes({
        "http.route": route,
        "http.response.status_code": status,
        "gen_ai.request.model": model,
      });
      if (status >= 500) span.setStatus({ code: STATUS_ERROR });
      if (generation) {
        const operation = COMPLETIONS.test(route) ? "text_completion" : "chat";
        const facts = { "gen_ai.operation.name": operation, "gen_ai.provider.name": "quern" };
        if (span.isRecording()) new GenerationTrace(telemetry, span, generation).tell(facts);
        measures!.count(generation, came, facts);
      }
      span.end();
    });
  };
}

/** The spans of a generation. */
class GenerationTrace {
  /** What the clock shows where performance.now() is 0. It moves off performance.timeOrigin over hours. */
  readonly #origin = Date.now() - performance.now();
  readonly #telemetry: Telemetry;
  readonly #server: Span;
  readonly #generation: Generation;

  constructor(telemetry: Telemetry, server: Span, generation: Generation) {
    this.#telemetry = telemetry;
    this.#server = server;
    this.#generation = generation;
  }

  tell(facts: Attributes): void {
    const { times, modelName, failure, timeline = [] } = this.#generation;
    const { asked, leased, begun, firstToken, ended = performance.now() } = times;
    const name = `${facts["gen_ai.operation.name"]} ${modelName}`;
    const span = this.#span(name, this.#server, asked);
    span.setAttributes({ ...facts, ...answerFacts(this.#generation) });
    if (failure !== undefined) {
      span.setStatus({ code: STATUS_ERROR, message: messageOf(failure) });
      span.setAttributes({ "error.type": failure instanceof Error ? failure.name : "error" });
    }
    this.#part("load", span, asked, leased);
    this.#part("queue", span, leased, begun ?? ended);
    if (begun !== undefined) {
      const read = firstToken ?? ended;
      this.#part("prefill", span, begun, read, timeline.filter(({ prefill }) => prefill));
      const steps = timeline.filter(({ prefill }) => !prefill);
      if (firstToken !== undefined) this.#part("decode", span, firstToken, ended, steps);
    }
    span.end(this.#origin + ended);
  }

  /** A part of a generation, with its steps. */
  #part(name: string, parent: Span, began: number, ended: number, steps: StepSpan[] = []): void {
    const span = this.#span(name, parent, began);
    for (const { began, milliseconds, steps: count, tokens, sequences } of steps) {
      const at = { parent: span.spanContext(), at: began };
      const attributes = {
        "quern.steps": count,
        "quern.tokens": tokens,
        "quern.sequences": sequences,
      };
      this.#telemetry.start("step", { ...at, attributes }).end(began + milliseconds);
    }
    span.end(this.#origin + ended);
  }

  #span(name: string, parent: Span, at: number): Span {
    return this.#telemetry.start(name, { parent: parent.spanContext(), at: this.#origin + at });
  }
}

function answerFacts({ modelName, reason, usage }: Generation): Attributes {
  return {
    "gen_ai.response.model": modelName,
    ...(reason && { "gen_ai.response.finish_reasons": [reason] }),
    "gen_ai.usage.input_tokens": usage?.promptTokens,
    "gen_ai.usage.cache_read.input_tokens": usage?.cachedTokens,
    "gen_ai.usage.output_tokens": usage?.completionTokens,
  };
}

const TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576];
const TOKEN_SECONDS = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5];

/** The distributions of generations. */
class Measures {
  readonly #duration: Distribution;
  readonly #firstToken: Distribution;
  readonly #perToken: Distribution;
  readonly #tokens: Distribution;

  constructor(telemetry: Telemetry) {
    const seconds = (name: string, description: string, bounds: readonly number[]) =>
      telemetry.distribution(`gen_ai.server.${name}`, "s", description, bounds);
    this.#duration = seconds("request.duration", "Time from a request to its end.", SECONDS);
    this.#firstToken = seconds("time_to_first_token", "Time to the first token.", SECONDS);
    this.#perToken = seconds("time_per_output_token", "Time per later token.", TOKEN_SECONDS);
    const name = "gen_ai.client.token.usage";
    this.#tokens = telemetry.distribution(name, "{token}", "Tokens of a request.", TOKENS);
  }

  /** @param came when the request came, on the clock of performance.now() */
  count(generation: Generation, came: number, facts: Attributes): void {
    const { usage, times: { firstToken, ended = performance.now() } } = generation;
    const all = { ...facts, "gen_ai.response.model": generation.modelName };
    this.#duration.record((ended - came) / 1000, all);
    if (firstToken !== undefined) this.#firstToken.record((firstToken - came) / 1000, all);
    if (!usage) return;
    const perToken = secondsPerToken(usage);
    if (perToken !== undefined) this.#perToken.record(perToken, all);
    this.#tokens.record(usage.promptTokens, { ...all, "gen_ai.token.type": "input" });
    this.#tokens.record(usage.completionTokens, { ...all, "gen_ai.token.type": "output" });
  }
}

function secondsPerToken({ completionTokens, completionMilliseconds }: Usage): number | undefined {
  return completionTokens > 1 ? completionMilliseconds / 1000 / (completionTokens - 1) : undefined;
}
