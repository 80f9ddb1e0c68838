// Two devices that compute one model together: a GPU, and the CPU for what the GPU has no memory
// for. Each is seen as a device of its own with its matrices and operations, but buffers, commands
// and their order belong to both. What one device computes and the other reads has to be handed
// over by an operation; nothing is transferred implicitly.

import type { Commands, Device, PassTimes, Readback, Sampler } from "../device.ts";
import { makeOn, type OperationMakers, operationMakers, withParts } from "../makers.ts";
import type { Buffer, Operation, Pass } from "../operation.ts";
import type { ExpertPairs, Routing } from "../ops/experts.ts";
import { type Half, SplitBuffer, SplitPart } from "./buffer.ts";
import {
  passOfOne,
  type SplitCommands,
  type SplitPass,
  SplitRecorder,
  type Stretch,
} from "./recorder.ts";

/** Two devices as one. Disposing of it disposes of both. */
export class SplitDevice implements Disposable {
  /** The GPU's view: its matrices and operations. */
  readonly gpu: Device;
  /** The CPU's view: its matrices and operations. */
  readonly cpu: Device;
  readonly #halves: ReadonlyMap<Device, Half>;
  readonly #order = new SubmitOrder();
  readonly #staging = new Map<Buffer, { half: Half; copied: Promise<void> }>();
  readonly #unsettled = new Set<SplitBuffer>();
  readonly #pairs = new WeakMap<object, ExpertPairs>();
  #isUnwanted = () => false;
  #isPrepared = false;

  /** @param gpu, cpu open devices, which belong to the split device from now on */
  constructor(gpu: Device, cpu: Device) {
    const halves = [gpu, cpu].map((device): Half => ({ device, owners: new WeakMap() }));
    const [first, second] = halves.map((half) => this.#viewOf(half, halves));
    this.gpu = first;
    this.cpu = second;
    this.#halves = new Map([[first, halves[0]], [second, halves[1]]]);
  }

  /**
   * An operation that transfers the first bytes of a buffer from the other device to `to`. It is
   * encoded with the number of bytes, a multiple of four.
   */
  handOver(buffer: Buffer, to: Device): Pick<Operation, "encode"> {
    const split = buffer as SplitBuffer;
    const half = this.#halves.get(to)!;
    const from = [...this.#halves.values()].find((other) => other !== half)!;
    split.on(half);
    const readback = from.device.readback(`${buffer.label} to hand over`, split.on(from).size);
    return {
      encode: (pass, bytes) =>
        (pass as SplitPass).handOver({ from, to: half, buffer: split, readback, bytes }),
    };
  }

  [Symbol.dispose](): void {
    for (const { device } of this.#halves.values()) device[Symbol.dispose]();
  }

  /** The view of one device, with buffers and commands of both. */
  #viewOf(half: Half, halves: readonly Half[]): Device {
    const { device } = half;
    const all = halves.map((one) => one.device);
    const own = <T>(operand: T): T => this.#onHalf(operand, half);
    return {
      ...this.#makersOf(half),
      profile: {
        ...device.profile,
        capabilities: {
          ...device.profile.capabilities,
          packedDot: all.every(({ profile }) => profile.capabilities.packedDot),
        },
        maxBindingSize: Math.min(...all.map(({ profile }) => profile.maxBindingSize)),
        maxBufferSize: Math.min(...all.map(({ profile }) => profile.maxBufferSize)),
      },
      // The devices have different int8 groups. A buffer that both have is large enough for either.
      groupBytes: Math.max(...all.map(({ groupBytes }) => groupBytes)),
      allocated: device.allocated,
      get workingMemory() {
        return device.workingMemory;
      },
      lost: Promise.race(all.map(({ lost }) => lost)),
      decodeSplit: device.decodeSplit,
      identity: device.identity,
      tuner: device.tuner,
      share: () => device.share(),
      check: () => {
        for (const one of all) one.check();
        this.#order.check();
      },
      scoped: (what, create) =>
        all.reduce((inner, one) => () => one.scoped(what, inner), async () => await create())(),
      buffer: (label, bytes, purpose) => {
        const buffer = new SplitBuffer(label, bytes, purpose);
        if (this.#isPrepared) buffer.settle();
        else this.#unsettled.add(buffer);
        // Caches and states are never transferred, so they get memory only on their layer's device.
        if (purpose === "cache" || purpose === "state") buffer.on(half);
        return buffer;
      },
      write: (buffer, offset, data) => this.#write(half, buffer, offset, data),
      free: (buffer) => {
        if (!(buffer instanceof SplitBuffer)) return device.free(buffer);
        this.#unsettled.delete(buffer);
        buffer.free();
      },
      part: (buffer, bytes) => new SplitPart(buffer as SplitBuffer, bytes),
      mostFusedNormRows: (matrix) => device.mostFusedNormRows(matrix),
      canPair: (...shape) => device.canPair(...shape),
      sidesOf: (matrix) => device.sidesOf(matrix),
      matrix: (...shape) => device.matrix(...shape),
      matrixWriter: (...side) => device.matrixWriter(...side),
      setAffine: (...affine) => device.setAffine(...affine),
      tableOf: (rows, count, first) => device.tableOf(own(rows), count, first),
      prepare: async () => {
        for (const one of all) await one.prepare();
        for (const buffer of this.#unsettled) buffer.settle();
        this.#unsettled.clear();
        this.#isPrepared = true;
      },
      capture: undefined,
      record: () => new SplitRecorder((target) => this.#staging.get(target)?.half),
      submit: (...commands) => {
        if (commands.length === 0) all.forEach((one) => one.submit());
        else this.#submit(commands);
      },
      readsBlock: false,
      submitsBlock: false,
      holdFor: () => {}, // Submits wait in a queue of their own.
      unless: (isUnwanted, submit) => {
        const before = this.#isUnwanted;
        this.#isUnwanted = isUnwanted;
        try {
          submit();
        } finally {
          this.#isUnwanted = before;
        }
      },
      time: (passes) => this.#time(passes),
      idle: async () => {
        await this.#order.idle();
        for (const one of all) await one.idle();
      },
      readback: (label, bytes) => this.#readback(half, label, bytes),
      mostTileRows: (shape) => device.mostTileRows(shape),
      expertPairs: (routing, rows, options) => this.#expertPairs(half, routing, rows, options),
      sampler: (options) => this.#sampler(half, device.sampler(own(options))),
      readBandwidth: () => device.readBandwidth(),
      [Symbol.dispose]: () => this[Symbol.dispose](),
    };
  }

  /** The operations of one device on the buffers of both. */
  #makersOf(half: Half): OperationMakers {
    return operationMakers((name, operands) => {
      const own = operands.map((operand) => this.#onHalf(operand, half)) as typeof operands;
      return this.#bound(half, makeOn(half.device, name, own));
    });
  }

  #bound(half: Half, operation: Operation): Operation {
    const owner = (memory: Buffer) => half.owners.get(memory) ?? memory;
    return {
      name: operation.name,
      reads: operation.reads.map(owner),
      writes: operation.writes.map(owner),
      output: operation.output && { ...operation.output, floats: owner(operation.output.floats) },
      work: (counts) => operation.work(counts),
      prepare: (...most) => operation.prepare?.(...most),
      encode: (pass, ...counts) =>
        (pass as SplitPass).encode(half, (inner) => operation.encode(inner, ...counts)),
    };
  }

  #expertPairs(half: Half, routing: Routing, ...rest: [number, object?]): ExpertPairs {
    const pairs = half.device.expertPairs(this.#onHalf(routing, half), ...rest);
    const bound = { ...this.#bound(half, pairs), routing };
    this.#pairs.set(bound, pairs);
    return bound;
  }

  #sampler(half: Half, sampler: Sampler): Sampler {
    return {
      encode: (pass: Pass, outputs, needs) =>
        (pass as SplitPass).encode(half, (inner) => sampler.encode(inner, outputs, needs)),
      [Symbol.dispose]: () => sampler[Symbol.dispose](),
    };
  }

  /**
   * The operand with buffers replaced by the memory of one device. Other operands are returned as
   * they are.
   */
  #onHalf<T>(operand: T, half: Half): T {
    return withParts(
      operand,
      (part) => part instanceof SplitBuffer ? part.on(half) : this.#pairs.get(part),
    );
  }

  #write(half: Half, buffer: Buffer, offset: number, data: ArrayBufferView | ArrayBuffer): void {
    if (!(buffer instanceof SplitBuffer)) return half.device.write(buffer, offset, data);
    const bytes = ArrayBuffer.isView(data)
      ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
      : new Uint8Array(data);
    // A write that has to wait is copied, because the caller may change its data after the call.
    const kept = (this.#order.isBusy ? bytes.slice() : bytes) as Uint8Array<ArrayBuffer>;
    void this.#order.add(() => buffer.write(offset, kept));
  }

  #submit(commands: readonly Commands[]): void {
    const all = commands as readonly SplitCommands[];
    const stretches = all.flatMap(({ stretches }) => stretches);
    const isUnwanted = this.#isUnwanted;
    const done = this.#order.add(() => run(stretches, isUnwanted));
    for (const { targets } of all) {
      for (const target of targets) this.#staging.get(target)!.copied = done;
    }
  }

  async #time(passes: readonly ((pass: Pass) => void)[]): Promise<PassTimes> {
    const seconds = new Float64Array(passes.length);
    const hostSeconds = new Float64Array(passes.length);
    await this.gpu.idle();
    for (const [i, encode] of passes.entries()) {
      const alone = passOfOne(encode);
      if (alone) {
        const times = await alone.half.device.time([alone.encode]);
        [seconds[i], hostSeconds[i]] = [times.seconds[0], times.hostSeconds[0]];
        continue;
      }
      const recorder = this.gpu.record();
      recorder.pass(encode);
      const started = performance.now();
      this.gpu.submit(recorder.finish());
      await this.gpu.idle();
      seconds[i] = (performance.now() - started) / 1000;
    }
    return { seconds, hostSeconds };
  }

  #readback(half: Half, label: string, bytes: number): Readback {
    const own = half.device.readback(label, bytes);
    const { buffer } = own;
    const staging = { half, copied: Promise.resolve() };
    this.#staging.set(buffer, staging);
    return {
      buffer,
      read: async (bytes) => {
        await staging.copied;
        return await own.read(bytes);
      },
      readNow: async (bytes) => {
        await staging.copied;
        return await own.readNow(bytes);
      },
      free: () => {
        this.#staging.delete(buffer);
        own.free();
      },
    };
  }
}

/** Runs stretches one after the other. Gives a promise only if one of them has to be awaited. */
function run(stretches: readonly Stretch[], isUnwanted: () => boolean): Promise<void> | void {
  for (const [i, stretch] of stretches.entries()) {
    const { half: { device }, commands, handOvers } = stretch;
    device.unless(isUnwanted, () => device.submit(commands));
    if (handOvers.length > 0) return handOverAndGoOn(stretch, stretches.slice(i + 1), isUnwanted);
  }
}

async function handOverAndGoOn(
  { handOvers }: Stretch,
  rest: readonly Stretch[],
  isUnwanted: () => boolean,
): Promise<void> {
  const read = await Promise.all(
    handOvers.map(({ readback, bytes }) => readback.readNow(bytes)),
  );
  handOvers.forEach(({ to, buffer }, i) => to.device.write(buffer.on(to), 0, read[i]));
  if (!isUnwanted()) await run(rest, isUnwanted);
}

/** A queue of work on both devices. */
class SubmitOrder {
  /** Resolves when the last work is done; missing if nothing is running. */
  #last: Promise<void> | undefined;
  #fault: unknown;

  /** Whether work is running, so that added work has to wait. */
  get isBusy(): boolean {
    return this.#last !== undefined;
  }

  /** Throws the error of failed work. */
  check(): void {
    if (this.#fault !== undefined) throw this.#fault;
  }

  /**
   * Runs work after all that was added before, at once if none of that is running. The result
   * rejects with the error of this or earlier work; it need not be awaited.
   */
  add(work: () => Promise<void> | void): Promise<void> {
    if (!this.#last) {
      this.check();
      const done = work();
      if (!done) return Promise.resolve();
      return this.#follow(done);
    }
    return this.#follow(this.#last.then(() => {
      this.check();
      return work();
    }));
  }

  /** Resolves when all work until now is done. Errors: those of the work. */
  async idle(): Promise<void> {
    await this.#last;
    this.check();
  }

  #follow(done: Promise<void>): Promise<void> {
    const last: Promise<void> = done
      .catch((error) => {
        this.#fault ??= error ?? new Error("Cannot go on: a device failed without a reason");
      })
      .finally(() => {
        if (this.#last === last) this.#last = undefined;
      });
    this.#last = last;
    const told = last.then(() => this.check());
    told.catch(() => {}); // check() and reads report it, too
    return told;
  }
}
