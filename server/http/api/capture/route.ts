// POST /api/capture: prompts that are run once, and the values at points inside the model, as JSON or as
// one file. Ours: Ollama has nothing like it. The points are those of engine/hooks.

import { Hono } from "../../../dependencies.ts";
import type {
  CapturedPoint,
  ChatModel,
  HookChange,
  RunRequest,
  RunResult,
} from "../../../../engine/mod.ts";
import type { AppDependencies, AppEnvironment } from "../../app_types.ts";
import { readJson } from "../../body/json_body.ts";
import { createValidator } from "../../body/validate.ts";
import { HttpError } from "../../errors.ts";
import { withModel } from "../../generation/lease.ts";
import { longJson } from "../../stream/json.ts";
import { translateRequest } from "../handler.ts";
import { readOptions } from "../options.ts";
import type { CaptureAnswer } from "./answer_schema.ts";
import { ARRAY_FILES, arrayOf, type NamedArray } from "./files.ts";
import { type CaptureBody, captureSchema } from "./schema.ts";
import { Spool } from "./spool.ts";

const validate = createValidator(captureSchema);

/** Most bytes of values in an answer, all of which the server holds. */
const MOST_BYTES = 2 ** 31;
/** Most bytes of values in a file, which the disk holds. */
const MOST_SPOOLED = 2 ** 35;

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
    const { format, pooling } = body;
    const isFile = format === "npz" || format === "safetensors";
    const tell = (tokens: number) => context.set("promptTokens", tokens);
    if (isFile && (!pooling || pooling === "none")) {
      // What is computed goes to a spool, whatever its size, and from there to the client.
      const spool = await Spool.create();
      try {
        const use = (loaded: ChatModel) => spooled(loaded, prompts, { ...request, signal }, spool);
        const results = await withModel(dependencies, model, { ...loading, signal }, use);
        tell(results.reduce((sum, { tokens }) => sum + tokens.length, 0));
        return fileResponse(format, arraysOf(results), spool);
      } catch (error) {
        await spool[Symbol.asyncDispose]();
        throw error;
      }
    }
    const results = await withModel(dependencies, model, { ...loading, signal }, async (loaded) => {
      const all: RunResult[] = [];
      let bytes = 0;
      for (const prompt of prompts) {
        const result = pooled(await loaded.run({ ...request, prompt, signal }), body);
        bytes += result.captured.reduce((sum, { values }) => sum + values.byteLength, 0);
        checkBytes(
          bytes,
          MOST_BYTES,
          isFile ? "name fewer" : "name fewer, pool them, or take a file",
        );
        all.push(result);
      }
      return all;
    });
    tell(results.reduce((sum, { tokens }) => sum + tokens.length, 0));
    if (!isFile) return longJson<CaptureAnswer>(answerOf(model, results));
    const held = results.map(({ tokens, captured }) => ({
      tokens,
      positions: captured[0]?.positions ?? [],
      arrays: captured.map(({ point, shape, values }) => arrayOf(point, shape, values)),
    }));
    return fileResponse(format, arraysOf(held));
  });
  return app;
}

/** @throws {HttpError} 400 for more values than there is room for */
function checkBytes(bytes: number, most: number, advice: string): void {
  if (bytes <= most) return;
  const state = `more than ${most / 2 ** 30} GiB of values: ${advice}`;
  throw new HttpError(400, `points: ${state}`, "points");
}

/** What was captured of a prompt, wherever its values are. */
interface CapturedArrays {
  readonly tokens: readonly number[];
  readonly positions: readonly number[];
  readonly arrays: readonly NamedArray[];
}

/** Runs prompts, and writes what they give to a spool. Errors: HttpError; those of the model. */
async function spooled(
  model: ChatModel,
  prompts: readonly RunRequest["prompt"][],
  request: Omit<RunRequest, "prompt">,
  spool: Spool,
): Promise<CapturedArrays[]> {
  const all: CapturedArrays[] = [];
  let bytes = 0;
  for (const prompt of prompts) {
    const places: number[] = [];
    let points: Omit<CapturedPoint, "values">[] = [];
    for await (const event of model.capture({ ...request, prompt })) {
      if (event.type === "values") {
        await spoolValues(spool, places[event.index]!, points[event.index]!, event.captured);
        continue;
      }
      const { tokens } = event;
      points = event.points;
      const arrays = points.map(({ point, shape }): NamedArray => {
        const size = 4 * shape.reduce((a, b) => a * b, 1);
        bytes += size;
        checkBytes(bytes, MOST_SPOOLED, "name fewer points or positions");
        const at = spool.reserve(size);
        places.push(at);
        return { name: point, shape, dtype: "F32", size, bytes: () => spool.read(at, size) };
      });
      all.push({ tokens, positions: points[0]?.positions ?? [], arrays });
    }
  }
  return all;
}

/** Writes the values of some positions where they belong among those of all. */
async function spoolValues(
  spool: Spool,
  place: number,
  { point, shape, positions: all }: Omit<CapturedPoint, "values">,
  { shape: own, positions, values }: CapturedPoint,
): Promise<void> {
  const bytesOf = (from: number, count: number) =>
    new Uint8Array(values.buffer, values.byteOffset + 4 * from, 4 * count);
  const first = all.indexOf(positions[0]!);
  const isRange = all[first + positions.length - 1] === positions.at(-1);
  const isPattern = point.startsWith("attention.pattern");
  if (!isPattern && isRange) {
    const size = values.length / positions.length;
    return await spool.write(place + 4 * first * size, bytesOf(0, values.length));
  }
  // Patterns are [heads, positions, keys], of which those up to here are known.
  const [heads, rows, keys] = isPattern ? shape as [number, number, number] : [1, all.length, 0];
  const known = isPattern ? own[2]! : values.length / positions.length;
  const width = isPattern ? keys : known;
  for (let head = 0; head < heads; head++) {
    for (const [i, position] of positions.entries()) {
      const to = (head * rows + all.indexOf(position)) * width;
      await spool.write(place + 4 * to, bytesOf((head * positions.length + i) * known, known));
    }
  }
}

/** A file of arrays, whose spool is closed at its end. */
function fileResponse(
  format: "npz" | "safetensors",
  arrays: readonly NamedArray[],
  spool?: Spool,
): Response {
  const { contentType, parts } = ARRAY_FILES[format];
  const headers = {
    "content-type": contentType,
    "content-disposition": `attachment; filename="capture.${format}"`,
  };
  const file = parts(arrays)[Symbol.asyncIterator]() as AsyncIterator<Uint8Array<ArrayBuffer>>;
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      try {
        const { done, value } = await file.next();
        if (!done) return controller.enqueue(value);
        controller.close();
      } catch (error) {
        controller.error(error);
      }
      await spool?.[Symbol.asyncDispose]();
    },
    async cancel() {
      await file.return?.();
      await spool?.[Symbol.asyncDispose]();
    },
  });
  return new Response(stream, { headers });
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
function arraysOf(results: readonly CapturedArrays[]): NamedArray[] {
  return results.flatMap(({ tokens, positions, arrays }, index) => {
    const all = [
      arrayOf("tokens", [tokens.length], tokens),
      arrayOf("positions", [positions.length], positions),
      ...arrays,
    ];
    return results.length === 1
      ? all
      : all.map((array) => ({ ...array, name: `${index}/${array.name}` }));
  });
}
