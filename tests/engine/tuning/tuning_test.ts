// The tuning of a model's kernels, with a tuner and a model that are played: when it runs, what it keeps,
// and what it makes of files that are damaged or not its own.

import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import {
  type Device,
  DeviceLostError,
  GpuError,
  GpuMemoryError,
  type KernelCase,
  keyOf,
  type ProductCase,
  type TunedKernel,
  type Tuner,
  typesOf,
} from "../../../kernels/mod.ts";
import { KernelTuning, type TunedModel, TuningFile } from "../../../engine/tuning/mod.ts";

const PRODUCT: ProductCase = {
  ...{ kernel: "product", format: "Q4_K", rows: 64, columns: 256, sides: 1 },
  ...{ integer: true, quantized: false, tokens: 1 },
};

const KERNELS: KernelCase[] = [
  PRODUCT,
  { ...PRODUCT, kernel: "experts", experts: 8, topK: 2, perPair: true, density: 1, cols: 1 },
  { kernel: "attention", heads: 4, kvHeads: 2, headDim: 64, ...typesOf("f16") },
];

function tunedOf(of: KernelCase, chosen = "fast"): TunedKernel {
  return { of, chosen, trials: [{ name: "usual", seconds: 2 }, { name: "fast", seconds: 1 }] };
}

/** A device that tunes as `tune` says. */
class FakeTuner implements Tuner {
  identity = "a device";
  software = false;
  readonly canTime: boolean = true;
  restored: TunedKernel[] = [];
  readonly asked: string[] = [];
  readonly #done = new Set<string>();

  constructor(
    readonly answer: (kernel: KernelCase) => TunedKernel | undefined = (of) => tunedOf(of),
  ) {}

  pending(): KernelCase[] {
    return KERNELS.filter((kernel) => !this.#done.has(keyOf(kernel)));
  }

  restore(kept: readonly TunedKernel[]): Promise<TunedKernel[]> {
    this.restored = [...kept];
    for (const { of } of kept) this.#done.add(keyOf(of));
    return Promise.resolve(this.restored);
  }

  mend(): Promise<TunedKernel[]> {
    return Promise.resolve([]);
  }

  tune(kernel: KernelCase): Promise<TunedKernel | undefined> {
    this.asked.push(keyOf(kernel));
    return Promise.try(() => this.answer(kernel));
  }
}

class FakeModel implements TunedModel {
  load = 0;
  prepared = 0;

  between<T>(work: () => Promise<T>): Promise<T> {
    return work();
  }

  prepare(): Promise<void> {
    this.prepared++;
    return Promise.resolve();
  }
}

interface World {
  folder: string;
  warnings: string[];
  /** Loads a model with this tuner, and lets it tune until it has nothing to do. */
  run(
    tuner: FakeTuner,
    model?: FakeModel,
    options?: { seconds?: number; software?: boolean },
  ): Promise<void>;
}

function tuningTest(name: string, test: (world: World) => Promise<void>): void {
  Deno.test(name, async () => {
    const folder = await Deno.makeTempDir();
    const warnings: string[] = [];
    try {
      await test({
        folder,
        warnings,
        async run(tuner, model = new FakeModel(), options = {}) {
          const warn = (text: string) => warnings.push(text);
          const tuning = KernelTuning.of({ tuner } as unknown as Device, {
            ...{ folder, warn },
            ...options,
          })!;
          await tuning.restore();
          tuning.start(model);
          await tuning.finished();
        },
      });
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

const keys = KERNELS.map(keyOf);

tuningTest("what is found at one load is there at the next", async ({ run, warnings }) => {
  const [tuner, model] = [new FakeTuner(), new FakeModel()];
  await run(tuner, model);
  assertEquals(tuner.asked, keys);
  assertEquals(model.prepared, 1);
  const [later, again] = [new FakeTuner(), new FakeModel()];
  await run(later, again);
  assertEquals(later.restored, KERNELS.map((of) => tunedOf(of)));
  assertEquals([later.asked, again.prepared], [[], 0]);
  assertEquals(warnings, []);
});

tuningTest("a driver on the CPU is tuned only if that is asked for", async ({ run }) => {
  const tuner = Object.assign(new FakeTuner(), { software: true });
  await run(tuner);
  assertEquals(tuner.asked, []);
  await run(tuner, undefined, { software: true });
  assertEquals(tuner.asked, keys);
});

tuningTest("another device, or another driver, begins anew", async ({ run }) => {
  await run(new FakeTuner());
  const other = Object.assign(new FakeTuner(), { identity: "a device, driver 2" });
  await run(other);
  assertEquals([other.restored, other.asked], [[], keys]);
});

tuningTest("a file that is damaged or another device's is told of and replaced", async (world) => {
  const { run, folder, warnings } = world;
  await run(new FakeTuner());
  const [name] = [...Deno.readDirSync(folder)].map(({ name }) => name);
  const path = join(folder, name!);
  const good = await Deno.readTextFile(path);
  const faults: [string, RegExp][] = [
    [good.slice(0, 100), /JSON|Unterminated/i],
    ["null", /it is damaged/],
    [good.replace('"a device"', '"another"'), /another device's/],
    [good.replace('"version": 1', '"version": 99'), /version 99/],
    [good.replace('"chosen"', '"chose"'), /it is damaged/],
  ];
  for (const [text, reason] of faults) {
    await Deno.writeTextFile(path, text);
    warnings.length = 0;
    const tuner = new FakeTuner();
    await run(tuner);
    assertEquals(tuner.asked, keys);
    assert(reason.test(warnings[0]!), warnings[0]);
    assertEquals(await Deno.readTextFile(path), good);
  }
});

tuningTest("a folder that cannot be written to is told of, and nothing fails", async (world) => {
  await Deno.writeTextFile(join(world.folder, "file"), "");
  const tuner = new FakeTuner();
  const options = {
    folder: join(world.folder, "file"),
    warn: (text: string) => world.warnings.push(text),
  };
  const tuning = KernelTuning.of({ tuner } as unknown as Device, options)!;
  await tuning.restore();
  tuning.start(new FakeModel());
  await tuning.finished();
  assertEquals(tuner.asked, keys);
  assert(world.warnings[0]!.startsWith(`Cannot read the tuned kernels in "${world.folder}`));
});

tuningTest("a kernel that takes the device down is not tuned again", async ({ run, warnings }) => {
  await run(
    new FakeTuner((of) => {
      if (keyOf(of) === keys[1]) throw new DeviceLostError("Cannot use the GPU: device lost");
      return tunedOf(of);
    }),
  );
  assertEquals(warnings, ["Kernels are not tuned: Cannot use the GPU: device lost"]);
  const next = new FakeTuner();
  await run(next);
  assertEquals(next.asked, [keys[2]]);
});

tuningTest(
  "a process that ends while it tunes leaves that kernel to the usual choice",
  async (world) => {
    const file = new TuningFile("a device", world);
    await file.change((kept) => kept.trying = keys[0]!);
    const next = new FakeTuner();
    await world.run(next);
    assertEquals(next.asked, keys.slice(1));
  },
);

tuningTest("a kernel that fails alone does not keep others from being tuned", async ({ run }) => {
  const fail = (of: KernelCase) => {
    if (keyOf(of) === keys[0]) throw new GpuError("Cannot time kernels");
    return tunedOf(of);
  };
  const tuner = new FakeTuner(fail);
  await run(tuner);
  assertEquals(tuner.asked, keys);
});

tuningTest(
  "kernels that another one's choice binds are tuned at the same load",
  async ({ run }) => {
    const bound: KernelCase[] = [];
    const tuner = new FakeTuner((of) => {
      if (keyOf(of) === keys[0]) bound.push({ ...PRODUCT, tokens: 256 });
      return tunedOf(of);
    });
    const pending = tuner.pending.bind(tuner);
    tuner.pending = () => [...bound, ...pending()];
    await run(tuner);
    assertEquals(tuner.asked, [keys[0], keyOf({ ...PRODUCT, tokens: 256 }), ...keys.slice(1)]);
  },
);

tuningTest("a device without room is tuned at another time", async ({ run, warnings }) => {
  await run(
    new FakeTuner(() => {
      throw new GpuMemoryError("tuning", 1, "the device is out of memory");
    }),
  );
  assertEquals(warnings.length, 1);
  const next = new FakeTuner();
  await run(next);
  assertEquals(next.asked, keys);
});

tuningTest("tuning ends when its time is up, and goes on at the next load", async ({ run }) => {
  const slow = new FakeTuner((of) => {
    const until = performance.now() + 30;
    while (performance.now() < until);
    return tunedOf(of);
  });
  await run(slow, undefined, { seconds: 0.02 });
  assertEquals(slow.asked, [keys[0]]);
  const next = new FakeTuner();
  await run(next);
  assertEquals(next.asked, keys.slice(1));
});

tuningTest(
  "a busy model is not tuned, and a request calls the tuning off",
  async ({ folder, run }) => {
    const model = new FakeModel();
    model.load = 1;
    const seen: number[] = [];
    const tuner = new FakeTuner((of) => {
      seen.push(model.load);
      if (seen.length > 1) return tunedOf(of);
      model.load = 1; // A request comes in the midst of it.
      setTimeout(() => model.load = 0, 20);
      return undefined;
    });
    setTimeout(() => model.load = 0, 20);
    await run(tuner, model);
    assertEquals(seen, [0, 0, 0, 0]);
    assertEquals(tuner.asked, [keys[0], ...keys]);

    // And the end of the model ends the wait.
    model.load = 1;
    const tuning = KernelTuning.of({ tuner: new FakeTuner() } as unknown as Device, { folder })!;
    tuning.start(model);
    await tuning.stop();
  },
);

Deno.test("a device without times of kernels has no tuning", () => {
  assertEquals(KernelTuning.of({ tuner: undefined } as Device, { folder: "/" }), undefined);
  assertEquals(
    KernelTuning.of({ tuner: new FakeTuner() } as unknown as Device, undefined),
    undefined,
  );
});
