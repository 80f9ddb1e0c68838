// The points of a model at which its values can be looked at and changed, by the names that
// TransformerLens made usual: where they are among the operations of a step, whatever the architecture.

import { RequestError } from "../errors.ts";
import type { AttentionInfo, Network, StepOperation } from "../nn/mod.ts";

/** A kind of value: its shape for each position, and whether it can be changed. */
interface PointKind {
  /** Axes of the values at one position. */
  readonly axes: readonly Axis[];
  readonly isOfLayer: boolean;
  readonly isChangeable: boolean;
}

/** What an axis of values counts. */
type Axis =
  | "width"
  | "heads"
  | "kvHeads"
  | "headDim"
  | "valueDim"
  | "hidden"
  | "positions"
  | "experts"
  | "vocabulary";

const stream = { axes: ["width"], isOfLayer: true, isChangeable: true } as const;
const ofHeads = { isOfLayer: true, isChangeable: false } as const;

/** All kinds of points. */
export const POINTS = {
  // The embeddings, with which the residual stream begins.
  "embedding": { ...stream, isOfLayer: false },
  // The residual stream before a layer.
  "residual.pre": stream,
  // The residual stream between a layer's attention or mixer and its MLP.
  "residual.mid": stream,
  // The residual stream after a layer.
  "residual.post": stream,
  // What the attention adds to the residual stream.
  "attention.out": stream,
  // What a recurrent mixer adds to the residual stream.
  "mixer.out": stream,
  // What the MLP, or the experts, add to the residual stream.
  "mlp.out": stream,
  // The result of each head, before the output projection.
  "attention.z": {
    ...ofHeads,
    axes: ["heads", "valueDim"],
    isChangeable: true,
  },
  // Queries as attention reads them, rotated.
  "attention.queries": { ...ofHeads, axes: ["heads", "headDim"] },
  // Keys as they go into the cache, rotated.
  "attention.keys": { ...ofHeads, axes: ["kvHeads", "headDim"] },
  // Values as they go into the cache.
  "attention.values": { ...ofHeads, axes: ["kvHeads", "valueDim"] },
  // The weights by which each head adds up values: zero for positions that it does not see.
  "attention.pattern": { ...ofHeads, axes: ["heads", "positions"] },
  // The activations that the down projection of a dense MLP reads.
  "mlp.hidden": { ...stream, axes: ["hidden"] },
  // The router's logits, before experts are chosen.
  "experts.scores": { ...ofHeads, axes: ["experts"] },
  // The logits, before penalties and masks.
  "logits": {
    axes: ["vocabulary"],
    isOfLayer: false,
    isChangeable: true,
  },
} as const satisfies Record<string, PointKind>;

/** The name of a kind of point. */
export type PointName = keyof typeof POINTS;

/** A point of a model. */
export interface Point {
  /** As it is written, such as "residual.post[3]". */
  readonly label: string;
  readonly name: PointName;
  /** Missing: it is of no layer. */
  readonly layer?: number;
  /** Sizes of the axes of its values at one position; -1 for positions. */
  readonly shape: readonly number[];
  readonly site: Site;
}

/**
 * Where values are: the rows that an operation writes; what the residual stream gained since an
 * operation before it; or a part of an attention.
 */
export type Site =
  | { readonly kind: "rows"; readonly at: StepOperation }
  | { readonly kind: "gain"; readonly since: StepOperation; readonly at: StepOperation }
  | {
    readonly kind: "attention";
    readonly at: StepOperation;
    readonly attention: AttentionInfo;
    readonly part: "queries" | "keys" | "values" | "pattern";
    /** The operation that writes the keys and values of its cache. */
    readonly keys: StepOperation;
  };

/** Selections of a list that name layers: "[3]", "[3:8]" without the last, "[-1]", "[*]", "[0,2,4:6]". */
const SELECTION = /^([a-z.]+)(?:\[([^\]]*)\])?$/;

/** The points of a model. */
export class Points {
  readonly #operations: readonly StepOperation[];
  /** What writes the residual stream, in order. */
  readonly #stream: readonly StepOperation[];
  readonly layers: number;

  constructor(network: Network) {
    const output = network.outputRows("logits") ? "logits" : "hidden";
    this.#operations = network.observedOperations(output);
    this.#stream = this.#operations.filter((operation) =>
      operation.outputName === "residual" && operation.output
    );
    this.layers = 1 + Math.max(-1, ...this.#operations.map(({ layer = -1 }) => layer));
  }

  /**
   * The points that a text selects, such as "residual.post[3:8]". Without a list: all layers that have
   * one. Errors: RequestError that names what there is.
   */
  select(text: string): Point[] {
    const [, name = "", list] = SELECTION.exec(text.trim()) ?? [];
    const known = Object.keys(POINTS);
    if (!known.includes(name)) {
      throw new RequestError(`Cannot find the point "${text}": points are ${known.join(", ")}`);
    }
    const own = name as PointName;
    if (!POINTS[own].isOfLayer) {
      if (list !== undefined) {
        throw new RequestError(`Cannot find the point "${text}": ${name} belongs to no layer`);
      }
      return [this.#find(own, undefined, text)!];
    }
    const isAll = list === undefined || list.trim() === "*";
    const layers = isAll ? range(0, this.layers) : this.#layersOf(list, text);
    const found = layers.map((layer) => this.#find(own, layer, text, isAll));
    const there = found.filter((point) => point !== undefined);
    if (there.length > 0) return there;
    throw new RequestError(`Cannot find the point "${text}": no layer of the model has ${name}`);
  }

  #layersOf(list: string, text: string): number[] {
    const wrong = (state: string) => new RequestError(`Cannot find the point "${text}": ${state}`);
    const whole = (part: string, otherwise: number) => {
      if (part.trim() === "") return otherwise;
      const value = Number(part);
      if (!Number.isInteger(value)) throw wrong(`"${part}" is no layer`);
      return value < 0 ? value + this.layers : value;
    };
    const layers = list.split(",").flatMap((part) => {
      const [from, to] = part.split(":");
      if (to === undefined && from!.trim() === "") throw wrong("it names no layer");
      const first = whole(from!, 0);
      const end = to === undefined ? first + 1 : whole(to, this.layers);
      const isThere = first >= 0 && end <= this.layers && (to !== undefined || first < this.layers);
      if (!isThere) throw wrong(`layers are 0 to ${this.layers - 1}`);
      return range(first, end);
    });
    if (layers.length === 0) throw wrong("it names no layer");
    return [...new Set(layers)];
  }

  /** The point of a layer; undefined if the layer has none and that is no error. */
  #find(
    name: PointName,
    layer: number | undefined,
    text: string,
    optional = false,
  ): Point | undefined {
    const site = this.#siteOf(name, layer);
    if (!site) {
      if (optional) return undefined;
      const where = layer === undefined ? "the model" : `layer ${layer}`;
      throw new RequestError(`Cannot find the point "${text}": ${where} has no ${name}`);
    }
    const label = layer === undefined ? name : `${name}[${layer}]`;
    const shape = shapeOf(name, site, this.#attentionOf(layer)?.attention);
    return { label, name, ...(layer !== undefined && { layer }), shape, site };
  }

  #siteOf(name: PointName, layer: number | undefined): Site | undefined {
    const isOwn = (operation: StepOperation) => operation.layer === layer;
    const rows = (at: StepOperation | undefined): Site | undefined => at && { kind: "rows", at };
    const named = (output: string, block: StepOperation["block"]) =>
      rows(
        this.#operations.findLast((operation) =>
          isOwn(operation) && operation.outputName === output && operation.block === block &&
          (operation.output ?? operation.groups)
        ),
      );
    switch (name) {
      case "embedding":
        return rows(this.#before(0));
      case "residual.pre":
        return rows(this.#before(layer!));
      case "residual.mid":
        return rows(
          this.#stream.findLast((operation) =>
            isOwn(operation) && (operation.block === "attention" || operation.block === "mixer")
          ),
        );
      case "residual.post":
        return rows(this.#stream.findLast(isOwn));
      case "attention.out":
      case "mixer.out":
      case "mlp.out":
        return this.#gain(layer!, name.slice(0, -".out".length));
      case "attention.z":
        return rows(this.#headsResult(layer!));
      case "mlp.hidden":
        return named("hidden", "mlp");
      case "experts.scores":
        return named("router", "mlp");
      case "logits":
        return rows(this.#operations.findLast(({ outputName }) => outputName === "logits"));
      default:
        return this.#attentionSite(layer!, name.slice("attention.".length));
    }
  }

  /** The last write of the residual stream before a layer. */
  #before(layer: number): StepOperation | undefined {
    return this.#stream.findLast((operation) => (operation.layer ?? -1) < layer);
  }

  #gain(layer: number, block: string): Site | undefined {
    const isOwn = (operation: StepOperation) =>
      operation.layer === layer && operation.block === block;
    const first = this.#stream.findIndex(isOwn);
    const since = this.#stream[first - 1];
    const at = this.#stream.findLast(isOwn);
    return since && at && { kind: "gain", since, at };
  }

  #attentionOf(layer: number | undefined): StepOperation | undefined {
    return this.#operations.find((operation) =>
      operation.layer === layer && operation.attention !== undefined
    );
  }

  /** What the output projection reads, which may be gated. */
  #headsResult(layer: number): StepOperation | undefined {
    const attention = this.#attentionOf(layer);
    if (!attention) return undefined;
    const rows = attention.output?.floats;
    const changed = rows &&
      this.#operations.findLast((operation) =>
        operation.layer === layer && operation.block === "attention" &&
        operation.outputName === attention.outputName && operation.output?.floats === rows
      );
    return changed ?? (attention.output ?? attention.groups ? attention : undefined);
  }

  #attentionSite(layer: number, part: string): Site | undefined {
    const at = this.#attentionOf(layer);
    const attention = at?.attention;
    // A layer without keys of its own reads those of a layer before it. Layers of an encoder share a cache.
    const keys = attention &&
      this.#operations.findLast(({ keys, layer: of = layer }) =>
        of <= layer && keys?.cache === attention.cache
      );
    if (!at || !attention || !keys) return undefined;
    type Part = Extract<Site, { kind: "attention" }>["part"];
    return { kind: "attention", at, attention, part: part as Part, keys };
  }
}

function shapeOf(name: PointName, site: Site, attention: AttentionInfo | undefined): number[] {
  const { heads = 1, kvHeads = 1, headDim = 0, valueDim = headDim } = attention?.options ?? {};
  const { output = site.at.groups } = site.at;
  const columns = output?.columns ?? 0;
  const sizes: Partial<Record<Axis, number>> = { heads, kvHeads, headDim, valueDim, positions: -1 };
  return POINTS[name].axes.map((axis: Axis) => sizes[axis] ?? columns);
}

function range(first: number, end: number): number[] {
  return Array.from({ length: Math.max(0, end - first) }, (_, i) => first + i);
}
