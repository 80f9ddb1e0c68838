// Traces and metrics by OpenTelemetry, which Deno exports by OTLP where OTEL_DENO is set: the part of its
// interface that the server uses, and the header by which traces go from program to program.
// https://opentelemetry.io/docs/specs/otel/trace/api, https://www.w3.org/TR/trace-context

import { VERSION } from "../../version.ts";

/** By which a span is known to others. */
export interface SpanContext {
  /** 32 hexadecimal digits, the same for all spans of a trace. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** 1: the trace is recorded. */
  readonly traceFlags: number;
}

/** Facts about a span or a measured value. Those that are undefined are left out. */
export type Attributes = Record<string, string | number | readonly string[] | undefined>;

/** A piece of work in a trace. Times are milliseconds since 1970. */
export interface Span {
  spanContext(): SpanContext;
  /** False where the trace is not sampled. */
  isRecording(): boolean;
  updateName(name: string): void;
  setAttributes(attributes: Attributes): void;
  setStatus(status: { code: number; message?: string }): void;
  end(time?: number): void;
}

/** A distribution that is exported. */
export interface Distribution {
  record(value: number, attributes?: Attributes): void;
}

/** Which side of a request a span is, as OpenTelemetry numbers them. */
export const SpanKind = { internal: 0, server: 1 } as const;

/** The status of a span that failed. */
export const STATUS_ERROR = 2;

/** The part of Deno.telemetry that is used; it has no types of its own. */
interface Provider {
  tracerProvider: {
    getTracer(name: string, version: string): {
      startSpan(name: string, options: Record<string, unknown>, context?: unknown): Span;
    };
  };
  contextManager: {
    active(): { setValue(key: symbol, value: unknown): unknown };
    with<T>(context: unknown, work: () => T): T;
  };
  meterProvider: {
    getMeter(name: string, version: string): {
      createHistogram(name: string, options: Record<string, unknown>): Distribution;
    };
  };
}

/** The key of the current span in a context, which all implementations share. */
const SPAN_KEY = Symbol.for("OpenTelemetry Context Key SPAN");

/** What records spans and values. */
export class Telemetry {
  readonly #provider: Provider;
  readonly #tracer: ReturnType<Provider["tracerProvider"]["getTracer"]>;

  constructor(provider: Provider = Deno.telemetry) {
    this.#provider = provider;
    this.#tracer = provider.tracerProvider.getTracer("quern", VERSION);
  }

  /** Whether spans go anywhere. An executable exports only if OTEL_DENO was set when it was compiled. */
  get isExporting(): boolean {
    return this.start("probe", {}).isRecording(); // What never ends is never exported.
  }

  /** Begins a span. @param parent undefined: it begins a trace */
  start(
    name: string,
    { parent, kind = SpanKind.internal, at, attributes = {} }: {
      parent?: SpanContext | undefined;
      kind?: number;
      at?: number;
      attributes?: Attributes;
    },
  ): Span {
    const options = { kind, attributes, ...(at !== undefined && { startTime: at }) };
    return this.#tracer.startSpan(
      name,
      parent ? options : { ...options, root: true },
      parent && this.#contextOf(parent),
    );
  }

  /** Does work in a span: what it fetches is a part of the trace. */
  within<T>(span: Span, work: () => T): T {
    return this.#provider.contextManager.with(this.#contextOf(span.spanContext()), work);
  }

  /** A distribution, of which the exporter tells counts by bounds. */
  distribution(
    name: string,
    unit: string,
    description: string,
    bounds: readonly number[],
  ): Distribution {
    const advice = { explicitBucketBoundaries: bounds };
    return this.#provider.meterProvider.getMeter("quern", VERSION)
      .createHistogram(name, { unit, description, advice });
  }

  #contextOf(span: SpanContext): unknown {
    return this.#provider.contextManager.active()
      .setValue(SPAN_KEY, { spanContext: () => span, isRecording: () => false });
  }
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** The span that a header traceparent names; undefined if it names none. */
export function parseTraceparent(header: string | undefined): SpanContext | undefined {
  const [, version, traceId, spanId, flags, more] = TRACEPARENT.exec(header?.trim() ?? "") ?? [];
  if (!traceId || !spanId || /^0*$/.test(traceId) || /^0*$/.test(spanId)) return undefined;
  // Later versions may say more; the first one must not.
  if (version === "ff" || version === "00" && more !== undefined) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags!, 16) & 1 };
}
