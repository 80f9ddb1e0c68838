// POST /api/capture: prompts that are run once, and the values at points inside the model, as JSON or as
// one file. Ours: Ollama has nothing like it. The points are those of engine/hooks.

import { Hono } from "../../../dependencies.ts";
import type { CapturedPoint, HookChange, RunResult } from "../../../../engine/mod.ts";
import type { AppDependencies, AppEnvironment } from "../../app_types.ts";
import { readJson } from "../../body/json_body.ts";
import { createValidator } from "../../body/validate.ts";
import { HttpError } from "../../errors.ts";
import { withModel } from "../../generation/lease.ts";
import { longJson } from "../../stream/json.ts";
import { translateRequest } from "../handler.ts";
import { readOptions } from "../options.ts";
import type { CaptureAnswer } from "./answer_schema.ts";
import { ARRAY_FILES, type NamedArray } from "./files.ts";
import { type CaptureBody, captureSchema } from "./schema.ts";

const validate = createValidator(captureSchema);

/** Most bytes of values in an answer, all of which the server holds. */
const MOST_BYTES = 2 ** 31;

/** Routes that show what a model computes. */
export function captureRoutes(dependencies: AppDependencies): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();
  app.post("/api/capture", async (context) => {
    const { signal } = context.req.raw;
    const checked = await validate.check(await readJson(context));
    const { model, translation } = await translateRequest(
      context,
      dependencies,
      checked,
      translate,
    );
    const { prompts, request, loading, body } = translation;
    const results = await withModel(dependencies, model, { ...loading, signal }, async (loaded) => {
      const all: RunResult[] = [];
      let bytes = 0;
      for (const prompt of prompts) {
        const result = pooled(await loaded.run({ ...request, prompt, signal }), body);
        bytes += result.captured.reduce((sum, { values }) => sum + values.byteLength, 0);
        if (bytes > MOST_BYTES) {
          const state = `more than ${MOST_BYTES / 2 ** 30} GiB of values: name fewer, or pool them`;
          throw new HttpError(400, `points: ${state}`, "points");
        }
        all.push(result);
      }
      return all;
    });
    context.set("promptTokens", results.reduce((sum, { tokens }) => sum + tokens.length, 0));
    const { format } = body;
    if (!format || format === "json") return longJson<CaptureAnswer>(answerOf(model, results));
    const { contentType, parts } = ARRAY_FILES[format];
    const headers = {
      "content-type": contentType,
      "content-disposition": `attachment; filename="capture.${format}"`,
    };
    const stream = ReadableStream.from(
      parts(arraysOf(results)) as Iterable<Uint8Array<ArrayBuffer>>,
    );
    return new Response(stream, { headers });
  });
  return app;
}

function translate(body: CaptureBody) {
  const { prompt, prompts } = body;
  const all = prompts ?? (prompt === null || prompt === undefined ? [] : [prompt]);
  if (all.length === 0) throw new HttpError(400, "prompt: there is none", "prompt");
  if (prompts && prompt) throw new HttpError(400, "prompts: there is prompt as well", "prompts");
  if (!body.points?.length) {
    throw new HttpError(400, "points: none is named, such as residual.post[*]", "points");
  }
  const { positions, pooling, points, changes } = body;
  if (pooling === "last" && positions && positions !== "all") {
    throw new HttpError(400, "pooling: last is one position; leave out positions", "pooling");
  }
  const wanted = pooling === "last" ? "last" : positions;
  const request = {
    capture: points,
    ...(wanted && { positions: wanted }),
    ...(changes && { changes: changes.map(given) as HookChange[] }),
  };
  return {
    prompts: all,
    request,
    loading: readOptions(body.options, body.keep_alive).loading,
    body,
  };
}

/** The members that are not null. */
function given<T extends object>(members: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== null && value !== undefined),
  ) as Partial<T>;
}

/** @throws {HttpError} 400 where there is nothing to pool */
function pooled({ tokens, captured }: RunResult, { pooling }: CaptureBody): RunResult {
  if (pooling !== "mean" && pooling !== "last") return { tokens, captured };
  return { tokens, captured: captured.map((point) => meanOf(point)) };
}

/** The mean of a point's positions, or of the one that it has. */
function meanOf({ point, shape, positions, values }: CapturedPoint): CapturedPoint {
  if (point.startsWith("attention.pattern")) {
    throw new HttpError(400, `pooling: rows of ${point} cannot be added up`, "pooling");
  }
  const size = shape.slice(1).reduce((a, b) => a * b, 1);
  const sums = new Float64Array(size);
  for (let i = 0; i < values.length; i++) sums[i % size]! += values[i]!;
  const mean = Float32Array.from(sums, (sum) => sum / positions.length);
  return { point, shape: shape.slice(1), positions, values: mean };
}

function answerOf(model: string, results: readonly RunResult[]) {
  return {
    model,
    results: results.values().map(({ tokens, captured }) => ({
      tokens,
      points: captured.map(({ point, shape, positions, values }) => ({
        point,
        dtype: "F32" as const,
        shape: [...shape],
        positions: [...positions],
        data: new Uint8Array(values.buffer, values.byteOffset, values.byteLength).toBase64(),
      })),
    })),
  };
}

/** All arrays by name; those of several prompts begin with the prompt's number and a slash. */
function arraysOf(results: readonly RunResult[]): NamedArray[] {
  return results.flatMap(({ tokens, captured }, index) => {
    const prefix = results.length === 1 ? "" : `${index}/`;
    const integers = (name: string, values: readonly number[]) => {
      return { name: `${prefix}${name}`, shape: [values.length], values };
    };
    return [
      integers("tokens", tokens),
      integers("positions", captured[0]?.positions ?? []),
      ...captured.map(({ point, shape, values }) => ({ name: `${prefix}${point}`, shape, values })),
    ];
  });
}
