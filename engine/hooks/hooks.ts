// Hooks on one sequence: they keep the values of points, and change them, for its rows alone; what other
// sequences of a step compute stays as it is. Values are f32 as the device computed them. A step with
// hooks runs in pieces, one after the other; without any, nothing of this exists.

import { attentionWeights, type ReferenceOptions } from "../../kernels/mod.ts";
import { RequestError } from "../errors.ts";
import type { StepOperation } from "../nn/mod.ts";
import { type PromptItem, tokensOf } from "../prompt/mod.ts";
import {
  concat,
  type Sequence,
  type StepObserver,
  type StepRow,
  type TapOutput,
  type VisitTools,
} from "../run/mod.ts";
import type { CapturedPoint, HookChange, HookOptions, HookPositions } from "../types/mod.ts";
import { type Point, POINTS, Points } from "./points.ts";

/** Most bytes of values that a run keeps. */
const MOST_BYTES = 2 ** 31;

/** Takes the values of a point of one step, before the next operation runs. @param index of the point */
export type CaptureSink = (index: number, captured: CapturedPoint) => Promise<void>;

type Change = Omit<HookChange, "point"> & { readonly target: Point; readonly includes: Includes };
type Includes = (position: number) => boolean;
type Visit = (row: StepRow, values: Float32Array) => void;
/** The values of positions. */
type Rows = Map<number, Float32Array>;

/** The hooks of a sequence, until they are disposed of. */
export class Hooks implements Disposable {
  readonly #captures: readonly { point: Point; rows: Rows }[];
  readonly #changes: readonly Change[];
  readonly #includes: Includes;
  /** The residual stream at operations from which a gain is counted. */
  readonly #before = new Map<StepOperation, Rows>();
  /** Keys and values of all positions, by what writes them. */
  readonly #keys = new Map<StepOperation, Rows>();
  readonly #sinks = new Map<StepOperation, Float32Array>();
  /** What writes keys of which those of earlier positions are needed, for patterns. */
  readonly #lasting: ReadonlySet<StepOperation>;
  readonly #promptLength: number;
  readonly #give: CaptureSink | undefined;
  readonly #tap: Disposable;
  /** The sequence, as soon as there is one. */
  sequence: Sequence | undefined;

  /**
   * @param prompt from whose end negative positions count
   * @param give takes the values of each step, of which none are kept then
   * @throws {RequestError} for what the model does not have, and for more values than are kept
   */
  constructor(
    observer: StepObserver,
    options: HookOptions,
    prompt: readonly PromptItem[],
    give?: CaptureSink,
  ) {
    const points = new Points(observer.network);
    const promptLength = tokensOf(prompt).length;
    this.#promptLength = promptLength;
    this.#give = give;
    const selected = new Map(
      (options.capture ?? []).flatMap((text) => points.select(text))
        .map((point) => [point.label, point] as const),
    );
    this.#captures = [...selected.values()].map((point) => ({ point, rows: new Map() }));
    this.#changes = (options.changes ?? []).flatMap((change) =>
      points.select(change.point).map((target) => resolve(change, target, promptLength))
    );
    this.#includes = includes(options.positions, promptLength);
    const sites = [
      ...this.#captures.map(({ point }) => point),
      ...this.#changes.map((c) => c.target),
    ]
      .map(({ site }) => site);
    for (const site of sites) {
      if (site.kind === "gain") this.#before.set(site.since, new Map());
      else if (site.kind === "attention") this.#keys.set(site.keys, new Map());
    }
    this.#lasting = new Set(
      sites.flatMap((site) =>
        site.kind === "attention" && site.part === "pattern" ? [site.keys] : []
      ),
    );
    if (!give) this.#checkSize(promptLength);
    checkImages(this.#captures.map(({ point }) => point), prompt);
    const keys = new Set(this.#keys.keys());
    const selectedOperations = new Set([
      ...sites.map(({ at }) => at),
      ...this.#before.keys(),
      ...keys,
    ]);
    const looksOnly = this.#changes.length === 0 && keys.size === 0;
    this.#tap = observer.tapOperations(
      { selected: selectedOperations, keys, looksOnly, isOfSequence: true },
      (operation, output, tools) => this.#visit(operation, output, tools),
    );
  }

  /** @throws {RequestError} if the values of a prompt would take too much memory */
  #checkSize(promptLength: number): void {
    let bytes = 0;
    for (const { point: { shape } } of this.#captures) {
      const row = shape.reduce((product, size) => product * (size < 0 ? promptLength : size), 4);
      for (let position = 0; position < promptLength; position++) {
        if (this.#includes(position)) bytes += row;
      }
    }
    if (bytes <= MOST_BYTES) return;
    const [size, most] = [bytes, MOST_BYTES].map((count) => (count / 2 ** 30).toFixed(1));
    throw new RequestError(
      `Cannot capture the points: their values take ${size} GiB, at most ${most} are kept; ` +
        `name fewer points or positions`,
    );
  }

  /** The points of a prompt, with the shapes and positions of their values. */
  get shapes(): Omit<CapturedPoint, "values">[] {
    const all = Array.from({ length: this.#promptLength }, (_, position) => position);
    const positions = all.filter(this.#includes);
    return this.#captures.map(({ point: { label, name, shape } }) => ({
      point: label,
      positions,
      shape: name === "attention.pattern"
        ? [shape[0]!, positions.length, this.#promptLength]
        : [positions.length, ...shape],
    }));
  }

  /** What was kept so far, in the order in which points were named. */
  get captured(): CapturedPoint[] {
    return this.#captures.map(({ point, rows }) => assemble(point, rows, this.#promptLength));
  }

  [Symbol.dispose](): void {
    this.#tap[Symbol.dispose]();
  }

  async #visit(
    operation: StepOperation,
    { rows, columns, values }: TapOutput,
    tools: VisitTools,
  ): Promise<Float32Array | undefined> {
    const slot = this.sequence?.memory.slot ?? -1;
    const own = rows.flatMap((row, index) =>
      row.slot === slot && slot >= 0 ? [{ row, index }] : []
    );
    if (own.length === 0) return undefined;
    const each = (all: Float32Array, width: number, visit: Visit) => {
      for (const { row, index } of own) {
        visit(row, all.subarray(index * width, (index + 1) * width));
      }
    };
    const keys = this.#keys.get(operation);
    if (keys) {
      const read = await tools.readKeys();
      const keyRows = read.length / rows.length;
      if (this.#give && !this.#lasting.has(operation)) keys.clear();
      each(read, keyRows, ({ position }, values) => keys.set(position, values.slice()));
    }
    let isChanged = false;
    for (const change of this.#changes) {
      const { target: { site } } = change;
      if (site.at !== operation) continue;
      each(values, columns, ({ position }, row) => {
        if (!change.includes(position)) return;
        isChanged = true;
        if (site.kind !== "gain") return applyChange(change, row, position);
        const before = this.#before.get(site.since)!.get(position)!;
        const gain = row.map((value, i) => value - before[i]!);
        applyChange(change, gain, position);
        gain.forEach((value, i) => row[i] = before[i]! + value);
      });
    }
    for (const [index, { point, rows: kept }] of this.#captures.entries()) {
      const { site } = point;
      if (site.at !== operation) continue;
      if (site.kind === "attention") {
        await this.#captureAttention(point, site, kept, tools, each);
      } else {
        each(values, columns, ({ position }, row) => {
          if (!this.#includes(position)) return;
          const before = site.kind === "gain" && this.#before.get(site.since)!.get(position);
          kept.set(position, before ? row.map((value, i) => value - before[i]!) : row.slice());
        });
      }
      if (!this.#give || kept.size === 0) continue;
      const captured = assemble(point, kept);
      kept.clear();
      await this.#give(index, captured);
    }
    const before = this.#before.get(operation);
    if (before) {
      before.clear();
      each(values, columns, ({ position }, row) => before.set(position, row.slice()));
    }
    return isChanged ? values : undefined;
  }

  async #captureAttention(
    { shape }: Point,
    { at, attention: { options, queries }, part, keys }: Extract<
      Point["site"],
      { kind: "attention" }
    >,
    kept: Rows,
    tools: VisitTools,
    each: (all: Float32Array, width: number, visit: Visit) => void,
  ): Promise<void> {
    const { heads, kvHeads, headDim, valueDim = headDim, first = 0, sharedValues } = options;
    const width = kvHeads * headDim;
    const all = this.#keys.get(keys)!;
    const read = await tools.readRows(queries);
    if (options.sinks && !this.#sinks.has(at)) {
      const row = { columns: heads, stride: heads, floats: options.sinks };
      this.#sinks.set(at, await tools.readRows(row, 1));
    }
    const sinks = this.#sinks.get(at);
    const { sinks: _, ...plain } = options;
    const reference: ReferenceOptions = { ...plain, ...(sinks && { sinks }) };
    const end = 1 + Math.max(...all.keys());
    const positions = Array.from({ length: end }, (_, position) => position);
    const known = part === "pattern"
      ? concat(positions.map((p) => all.get(p)!.subarray(0, width)))
      : undefined;
    each(read, queries.columns, ({ position }, row) => {
      if (!this.#includes(position)) return;
      const query = row.subarray(first, first + heads * headDim);
      const stored = all.get(position)!;
      if (part === "queries") kept.set(position, query.slice());
      else if (part === "keys") kept.set(position, stored.slice(0, width));
      else if (part === "values" && sharedValues) {
        kept.set(position, stored.slice(0, shape.reduce((a, b) => a * b)));
      } else if (part === "values") {
        kept.set(position, stored.slice(width, width + kvHeads * valueDim));
      } else {
        const seen = known!.subarray(0, (position + 1) * width);
        kept.set(position, Float32Array.from(attentionWeights(query, seen, position, reference)));
      }
    });
  }
}

/** A change of one point. Errors: RequestError for what does not fit the point. */
function resolve(change: HookChange, target: Point, promptLength: number): Change {
  const { label, name, shape } = target;
  const fail = (state: string) => new RequestError(`Cannot change "${label}": ${state}`);
  if (!POINTS[name].isChangeable) {
    const others = Object.entries(POINTS).filter(([, { isChangeable }]) => isChangeable);
    throw fail(
      `it can only be looked at; what can be changed is ${others.map(([n]) => n).join(", ")}`,
    );
  }
  const { positions, heads, scale } = change;
  if (![change.replace, scale, change.add, change.apply].some((one) => one !== undefined)) {
    throw fail("none of replace, scale, add and apply is given");
  }
  if (scale !== undefined && !Number.isFinite(scale)) {
    throw fail(`the scale ${scale} is not finite`);
  }
  const size = shape.reduce((a, b) => a * b);
  const [count = 1] = shape;
  if (heads && name !== "attention.z") throw fail("it has no heads");
  const wrong = heads?.find((head) => !Number.isInteger(head) || head < 0 || head >= count);
  if (wrong !== undefined) throw fail(`there is no head ${wrong}, heads are 0 to ${count - 1}`);
  for (const values of [change.replace, change.add]) {
    if (!values) continue;
    const rows = typeof positions === "object" ? [1, positions.length] : [1];
    if (!rows.some((count) => values.length === count * size)) {
      const wanted = rows.map((count) => count * size).join(" or ");
      throw fail(`it got ${values.length} values in place of ${wanted}`);
    }
    if (!Array.from(values).every(Number.isFinite)) throw fail("its values are not all finite");
  }
  const list = typeof positions === "object"
    ? positions.map((position) => position < 0 ? promptLength + position : position)
    : positions;
  return {
    ...change,
    ...(list && { positions: list }),
    target,
    includes: includes(list, promptLength),
  };
}

function includes(positions: HookPositions = "all", promptLength: number): Includes {
  if (positions === "all") return () => true;
  if (positions === "last") return (position) => position === promptLength - 1;
  const wrong = positions.find((position) =>
    !Number.isInteger(position) || position < -promptLength
  );
  if (wrong !== undefined) {
    throw new RequestError(`Cannot hook position ${wrong}: the prompt has ${promptLength} tokens`);
  }
  const all = new Set(
    positions.map((position) => position < 0 ? promptLength + position : position),
  );
  return (position) => all.has(position);
}

/** Changes a row in place. */
function applyChange(change: Change, row: Float32Array, position: number): void {
  const { target: { label, layer, shape }, positions, heads, replace, scale, add, apply } = change;
  const at = typeof positions === "object" ? positions.indexOf(position) : 0;
  const size = row.length / (shape[0] ?? 1);
  const isOwn = heads ? (i: number) => heads.includes(Math.floor(i / size)) : () => true;
  const from = (values: ArrayLike<number>, i: number) =>
    values[values.length === row.length ? i : at * row.length + i]!;
  const before = heads && row.slice();
  if (replace) row.forEach((_, i) => row[i] = from(replace, i));
  if (scale !== undefined) row.forEach((value, i) => row[i] = value * scale);
  if (add) row.forEach((value, i) => row[i] = value + from(add, i));
  const given = apply?.(row, {
    point: label,
    ...(layer !== undefined && { layer }),
    position,
    shape,
  });
  if (given && given.length !== row.length) {
    throw new RangeError(`it gave back ${given.length} values in place of ${row.length}`);
  }
  if (given && given !== row) row.set(given);
  if (before) before.forEach((value, i) => row[i] = isOwn(i) ? row[i]! : value);
}

/** The kept rows of a point, as one array. @param least fewest keys of patterns */
function assemble({ label, name, shape }: Point, rows: Rows, least = 0): CapturedPoint {
  const positions = [...rows.keys()].sort((a, b) => a - b);
  const ordered = positions.map((position) => rows.get(position)!);
  if (name !== "attention.pattern") {
    const all = [positions.length, ...shape];
    return { point: label, shape: all, positions, values: concat(ordered) };
  }
  const [heads = 1] = shape;
  const keys = Math.max(least, 1 + (positions.at(-1) ?? -1));
  const values = new Float32Array(heads * positions.length * keys);
  ordered.forEach((row, i) => {
    const own = row.length / heads;
    for (let head = 0; head < heads; head++) {
      values.set(row.subarray(head * own, (head + 1) * own), (head * positions.length + i) * keys);
    }
  });
  return { point: label, shape: [heads, positions.length, keys], positions, values };
}

/** Errors: RequestError for patterns of images whose rows attend to each other in both directions. */
function checkImages(points: readonly Point[], prompt: readonly PromptItem[]): void {
  if (prompt.every((item) => typeof item === "number")) return;
  const wrong = points.find(({ name, site }) =>
    name === "attention.pattern" && site.kind === "attention" &&
    site.attention.options.bidirectionalImages
  );
  if (!wrong) return;
  throw new RequestError(
    `Cannot capture "${wrong.label}": it is not computed where images are read`,
  );
}
