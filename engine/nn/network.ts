// The methods in which the blocks of a model are written: embed, norm, project and others. Each
// makes the values that it needs, and appends an operation to the list (operation_list.ts).

import {
  type Activation,
  type ActivationFunction,
  type Columns,
  type ElementwiseOperation,
  type ElementwiseOptions,
  type EmbedOptions,
  type FloatRows,
  GROUP,
  type Matrix,
  type Norm,
  padTo,
  type QuantizedRows,
  ROW_PADDING,
} from "../../kernels/mod.ts";
import type { GatedStack, Stack } from "../weights/mod.ts";
import { MediaRows } from "./media_rows.ts";
import { OperationList } from "./operation_list.ts";
import { overRows, type StepOperation } from "./step.ts";

/** An activation in the forms that its readers take: f32, int8 groups, or both. */
export interface Input {
  readonly columns: number;
  readonly floats?: FloatRows;
  readonly quantized?: QuantizedRows;
}

/** A reader of an activation, which determines the forms that are made. */
export interface Reader {
  readonly readers: readonly Matrix[];
  /** Whether it reads f32 besides, for something other than a product. */
  readonly readsFloats?: boolean;
}

/** A model's forward step, built once and replayed. */
export class Network extends OperationList {
  readonly media = new MediaRows(
    this.state,
    this.options.limits.rows,
    this.options.bidirectionalImages,
  );
  #finalStates: FloatRows | undefined;

  /** The hidden states of a step before the head: [rows, width]. Undefined where they are not kept. */
  get finalStates(): FloatRows | undefined {
    return this.#finalStates;
  }

  /** x[row] = scale * table[token]. Options: rows by position instead of token, or added to x. */
  embed(table: Matrix, x: FloatRows, options: EmbedOptions = {}): void {
    this.addRows(this.make.embed(table, this.state, x, options));
  }

  /** Writes or adds the next part of the images' embeddings to their rows of x; see MediaRows. */
  addMedia(x: FloatRows): void {
    this.add(this.media.next(x, this.device, this.make));
  }

  /** The norm of every row, for the matrices that read it. `label` is its meaning in the model. */
  norm(x: FloatRows, norm: Norm, readers: Reader | readonly Reader[], label = "normed"): Input {
    return this.produce(
      label,
      x.columns,
      readers,
      (y) => overRows(this.make.norm(x, y, norm)),
    );
  }

  /** Appends an operation that writes new rows, in the forms that their readers take. */
  produce(
    label: string,
    columns: number,
    readers: Reader | readonly Reader[],
    operation: (y: Activation) => StepOperation,
  ): Input {
    const { integer, float } = this.#formsFor(readers);
    if (integer && !float) {
      const quantized = this.quantizedScratch(label, columns);
      const { device } = this;
      const apart = (rows: FloatRows) =>
        this.on(device, () =>
          [
            { ...operation(rows), outputName: label },
            overRows(this.make.quantize(rows, quantized)),
          ] as const);
      this.add({ ...operation(quantized), outputName: label, groups: { columns, apart } });
      return { columns, quantized };
    }
    const y = this.scratch(label, columns);
    this.add(operation(y));
    return this.input(y, readers, label);
  }

  /**
   * The rows in the forms that their readers take. @param rows most rows; default: those of a step
   */
  input(
    x: FloatRows,
    readers: Reader | readonly Reader[],
    label = "rows",
    rows?: number,
  ): Input {
    if (!this.#formsFor(readers).integer) return { columns: x.columns, floats: x };
    const quantized = this.quantizedScratch(label, x.columns, rows);
    this.addRows(this.make.quantize(x, quantized));
    return { columns: x.columns, floats: x, quantized };
  }

  /** y = norm(x), also in place; or y += norm(x). */
  normInto(x: FloatRows, y: FloatRows, norm: Norm, { accumulate = false } = {}): void {
    this.addRows(this.make.norm(x, y, norm, { accumulate }));
  }

  /** The norm of vectors within each row, such as heads, in place. */
  normVectors(
    x: FloatRows,
    norm: Norm,
    vectors: { first: number; count: number; columns: number },
  ): void {
    this.addRows(this.make.norm(x, x, norm, { vectors }));
  }

  /** x W^T as new rows. `label` is their meaning in the model. */
  linear(x: Input, stack: Stack, label: string): FloatRows {
    const y = this.scratch(label, stack.columns);
    this.project(x, stack, y);
    return y;
  }

  /** y += x W^T, for the residual stream; or y += norm(x W^T) in blocks that end with a norm. */
  addLinear(x: Input, stack: Stack, y: FloatRows, postNorm?: Norm): void {
    if (!postNorm) return this.project(x, stack, y, { accumulate: true });
    this.normInto(this.linear(x, stack, "projected"), y, postNorm, { accumulate: true });
  }

  /** y = x W^T or y += x W^T. */
  project(
    x: Input,
    stack: Stack,
    y: FloatRows,
    { accumulate = false }: { accumulate?: boolean } = {},
  ): void {
    const forms = Map.groupBy(stack.parts, ({ matrix }) => this.formOf(x, matrix));
    for (const [form, parts] of forms) {
      const [{ matrix, first }] = parts;
      this.addRows(
        parts.length === 1
          ? this.make.linear(matrix, form, y, { accumulate, first })
          : this.make.stackedLinear(parts, form, y, { accumulate }),
      );
    }
  }

  /** f(x W_gate^T) * (x W_up^T), for the matrix that reads it. */
  gated(x: Input, weights: GatedStack, activation: ActivationFunction, reader: Reader): Input {
    if (!("paired" in weights)) {
      const { columns } = weights;
      const both = this.scratch("gate and up", 2 * padTo(columns, GROUP), undefined, columns);
      this.project(x, weights.stack, both);
      return this.activate(both, weights.columns, activation, reader, { gated: true });
    }
    const form = this.formOf(x, weights.paired);
    return this.produce(
      "hidden",
      weights.columns,
      reader,
      (y) => overRows(this.make.linear(weights.paired, form, y, { activation })),
    );
  }

  /** f(x), or f(gate) * up of the two halves of x, for the matrix that reads it. */
  activate(
    x: FloatRows,
    columns: number,
    activation: ActivationFunction,
    reader: Reader,
    { gated = false } = {},
  ): Input {
    return this.produce(
      "hidden",
      columns,
      reader,
      (y) => overRows(this.make.activate(x, y, { activation, gated })),
    );
  }

  /** An elementwise operation on columns of every row, in place. */
  elementwise(
    operation: ElementwiseOperation,
    y: Columns,
    options: ElementwiseOptions = {},
  ): void {
    this.addRows(this.make.elementwise(operation, y, options));
  }

  /**
   * Ends the step, for the rows that need an output. The hidden state is norm(x), after the dense
   * layers of an encoder. The logits are its product with the head, soft-capped to +-softcap. It is
   * copied to the first rows of `feedBack`, for a network that reads its own hidden states.
   */
  output(
    x: FloatRows,
    norm: Norm,
    { head, softcap = 0, dense = [], feedBack }: {
      head?: Stack | undefined;
      softcap?: number;
      dense?: readonly Stack[];
      feedBack?: FloatRows | undefined;
    } = {},
  ): void {
    if (this.options.keepsFinalStates) {
      this.#finalStates = this.memory.floats("final states", x.columns);
      this.normInto(x, this.#finalStates, norm);
    }
    const rows = padTo(this.options.limits.outputs, ROW_PADDING);
    /** The last value is kept for the host to read. */
    const rowsAfter = (layers: number, label: string, columns: number) =>
      layers === dense.length
        ? this.memory.floats(label, columns, rows)
        : this.scratch(label, columns, rows);
    let hidden = rowsAfter(0, "hidden output", x.columns);
    const options = { source: this.state.outputs };
    const first = this.make.norm(x, hidden, norm, options);
    const operations = this.onOutputs(() => this.addRows(first));
    for (const [i, stack] of dense.entries()) {
      const y = rowsAfter(i + 1, "dense output", stack.columns);
      const input = hidden;
      operations.push(...this.onOutputs(() => this.#projectOutputs(input, stack, y)));
      hidden = y;
    }
    this.setOutput("hidden", hidden, operations);
    if (!head) return;
    // Not padded to whole groups: no product reads the logits, and the sampler takes rows without
    // padding.
    const { columns } = head;
    const floats = this.device.buffer("logits", rows * columns * 4, "scratch");
    const logits: FloatRows = { columns, stride: columns, floats };
    const product = this.onOutputs(() => {
      this.#projectOutputs(hidden, head, logits);
      if (softcap !== 0) this.elementwise("softcap", { rows: logits }, { factor: softcap });
      if (feedBack) this.elementwise("copy", { rows: feedBack }, { x: { rows: hidden } });
    });
    this.setOutput("logits", logits, [...operations, ...product]);
  }

  /** The form of an activation that a matrix multiplies. */
  formOf(x: Input, matrix: Matrix): FloatRows | QuantizedRows {
    return matrix.format.kind === "integer" && x.quantized ? x.quantized : x.floats!;
  }

  /** Whether a matrix multiplies int8 activations. */
  multipliesInteger(matrix: Matrix): boolean {
    return this.options.integer && matrix.format.kind === "integer";
  }

  /** The forms of an activation that these matrices read. */
  #formsFor(readers: Reader | readonly Reader[]): { integer: boolean; float: boolean } {
    const { integer } = this.options;
    const all = [readers].flat();
    const matrices = all.flatMap((reader) => reader.readers);
    const integers = matrices.filter(({ format }) => format.kind === "integer").length;
    const float = integers < matrices.length || all.some(({ readsFloats }) => readsFloats);
    return { integer: integer && integers > 0, float: !integer || float };
  }

  #projectOutputs(x: FloatRows, stack: Stack, y: FloatRows): void {
    const { outputs: rows } = this.options.limits;
    this.project(this.input(x, stack, "output rows", rows), stack, y);
  }
}
