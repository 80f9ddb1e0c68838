// `quern doctor` on machines that are played: what it finds, what it says to do, how it ends.

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import { type DeviceTuning, GpuError } from "../../../../engine/mod.ts";
import { FakeTerminal } from "../fake_terminal.ts";
import {
  DEBIAN,
  type FakeMachine,
  pciDevice,
  QUERN_SERVER,
  runDoctor,
  todosIn,
  wideTerminal,
} from "./fake_machine.ts";

const NO_GPU = new GpuError("Cannot open a GPU: no adapter found");

Deno.test("doctor finds nothing to do on a machine that is well but for its lack of models", async () => {
  const { code, output } = await runDoctor({
    server: QUERN_SERVER,
    programs: { "nvidia-smi --query-gpu=driver_version --format=csv,noheader": "570.86\n" },
  });
  assertEquals(code, 0);
  assertMatch(output, /^ {2}ok +device +NVIDIA Test GPU: WebGPU finds a GPU$/m);
  assertMatch(output, /^ {2}ok +driver +NVIDIA 570\.86$/m);
  assertMatch(output, /^ {2}ok +test +a matrix product of 64 values came out as it should/m);
  assertMatch(output, /^ {2}ok +subgroups +of 32 invocations$/m);
  assertMatch(output, /^ {2}ok +for models +22\.0 GiB: as it says$/m);
  assertMatch(output, /^ {11}8B +5\.8 GiB fits +9\.2 GiB fits$/m);
  assertMatch(output, /^ {11}70B +42\.6 GiB too large +72\.6 GiB too large$/m);
  assertMatch(output, /^ {2}ok +disk +500 GB free$/m);
  assertMatch(output, /^ {2}ok +server +http:\/\/127\.0\.0\.1:11434 runs, version/m);
  assert(!/warning|problem/.test(output), output);
  assertEquals(todosIn(output), " 1. Get a first model. quern pull gemma3:1b ");
});

Deno.test("doctor says that there is nothing to do", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(join(folder, "a.gguf"), "");
    const { output, code } = await runDoctor({
      environment: { QUERN_MODELS: folder },
      inspect: () => Promise.resolve({ architecture: "llama" } as never),
    });
    assertEquals(code, 0);
    assert(output.endsWith("\n\nAll is well: there is nothing to do.\n"), output);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

const APT = "sudo apt-get update && sudo apt-get install -y";

const GPU_CASES: [name: string, machine: FakeMachine, code: number, todo: string][] = [
  ["no adapter on Debian", { gpu: NO_GPU, files: DEBIAN }, 1, APT],
  [
    "no adapter on a distribution that it does not know",
    { gpu: NO_GPU },
    1,
    "with the system's package manager",
  ],
  ["no adapter on macOS", { gpu: NO_GPU, os: "darwin" }, 1, "macOS brings Metal"],
  ["no adapter on Windows", { gpu: NO_GPU, os: "windows" }, 1, "that the GPU's maker offers"],
  [
    "a GPU of NVIDIA without its driver",
    { gpu: NO_GPU, files: { ...DEBIAN, ...pciDevice("10de") } },
    1,
    "its driver is not: install it, from the component non-free of Debian, and restart. " +
    "sudo apt-get install -y nvidia-driver nvidia-vulkan-icd",
  ],
  [
    "a GPU of NVIDIA in a container without Vulkan",
    {
      gpu: { software: true },
      files: { ...DEBIAN, "/.dockerenv": "" },
      programs: { "nvidia-smi -L": "GPU 0" },
    },
    0,
    "--gpus all -e NVIDIA_DRIVER_CAPABILITIES=all",
  ],
  [
    "a GPU that the user may not open",
    { gpu: { software: true }, programs: { "test -e /dev/dri/renderD128": "" } },
    0,
    "sudo usermod -aG render,video $USER",
  ],
  [
    "a GPU of AMD without Mesa",
    { gpu: { software: true }, files: { ...DEBIAN, ...pciDevice("1002") } },
    0,
    "A GPU of AMD is here, but no Vulkan driver for it: install Mesa's.",
  ],
  [
    "a variable that hides drivers",
    { gpu: NO_GPU, files: DEBIAN, environment: { VK_ICD_FILENAMES: "/x.json" } },
    1,
    "env -u VK_ICD_FILENAMES quern doctor",
  ],
  [
    "a variable that leaves nothing but OpenGL",
    { gpu: NO_GPU, files: DEBIAN, environment: { DENO_WEBGPU_BACKEND: "gl" } },
    1,
    "env -u DENO_WEBGPU_BACKEND quern doctor",
  ],
  [
    "no adapter, where only what the program looks for is looked for",
    { gpu: NO_GPU, files: DEBIAN, environment: { DENO_WEBGPU_BACKEND: "vulkan,dx12,metal" } },
    1,
    APT,
  ],
  ["a GPU that computes wrongly", { gpu: { wrong: 3 } }, 1, "Update the driver of the GPU"],
];

for (const [name, machine, code, todo] of GPU_CASES) {
  Deno.test(`doctor knows what to do about ${name}`, async () => {
    const run = await runDoctor(machine);
    assertEquals(run.code, code);
    assertStringIncludes(todosIn(run.output), todo);
  });
}

Deno.test("doctor has no advice about software where no GPU is in the machine", async () => {
  const { code, output } = await runDoctor({ gpu: { software: true }, files: DEBIAN });
  assertEquals(code, 0);
  assertMatch(output, /warning +device +llvmpipe/);
  assertEquals(todosIn(output).match(/\d\. /g), ["1. "]);
});

Deno.test("doctor says that the CPU computes and why, and of a GPU that is not used", async () => {
  const none = await runDoctor({ cpu: "this machine has no GPU", files: DEBIAN });
  assertEquals(none.code, 0);
  assertMatch(
    none.output,
    /^ {2}ok +device +CPU, 4 threads, int8 products: [\w ,]+: this machine has no\s+GPU$/m,
  );
  assertEquals(todosIn(none.output).match(/\d\. /g), ["1. "]);
  const unused = { cpu: "WebGPU finds no GPU", files: { ...DEBIAN, ...pciDevice("1002") } };
  const { output, code } = await runDoctor(unused);
  assertEquals(code, 0);
  assertMatch(output, /warning +device +CPU, 4 threads/);
  assertStringIncludes(todosIn(output), "A GPU of AMD is here, but no Vulkan driver for it");
  const wanted = await runDoctor({ ...unused, environment: { QUERN_DEVICE: "cpu" } });
  assertMatch(wanted.output, /ok +device +CPU, 4 threads/);
  const hidden = await runDoctor({
    cpu: "this machine has no GPU",
    environment: { DENO_WEBGPU_BACKEND: "vulkan" },
  });
  assertMatch(hidden.output, /ok +device +CPU, 4 threads/);
});

Deno.test("doctor says what is lost without features, and at the least of limits", async () => {
  const { code, output } = await runDoctor({
    gpu: { subgroupSize: 0, maxBindingSize: 128 * 2 ** 20 },
  });
  assertEquals(code, 0);
  assertMatch(output, /warning +subgroups +of varying size, so not used: sums take a way/);
  assertMatch(output, /warning +largest binding +128\.0 MiB, the least there is/);
});

Deno.test("doctor counts what the server has in memory, and tells if nothing fits", async () => {
  const models = [{ name: "a:latest", size: 3 * 2 ** 30, size_vram: 0 }, {
    name: "b:1b",
    size: 2 ** 30,
    size_vram: 2 ** 30,
  }];
  const { code, output } = await runDoctor({
    budget: 2 ** 30,
    server: { ...QUERN_SERVER, "GET /api/ps": () => Response.json({ models }) },
  });
  assertEquals(code, 0);
  assertMatch(output, /warning +for models +1\.0 GiB/);
  assertMatch(output, /ok +in use +4\.0 GiB by the server: a:latest, b:1b;/);
  assertStringIncludes(todosIn(output), "QUERN_GPU_MEMORY=8GiB quern serve");
});

Deno.test("doctor names the models that are broken, and why", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(join(folder, "bad.gguf"), "no model");
    const { code, output } = await runDoctor({
      environment: { QUERN_MODELS: folder },
      inspect: () => Promise.reject(new Error("its magic is wrong")),
      free: 1e9,
    }, { terminal: wideTerminal() });
    assertEquals(code, 0);
    assertMatch(output, /warning +broken +\S+bad\.gguf: its\s+magic\s+is\s+wrong/);
    assertMatch(output, /warning +disk +1\.0 GB free: most models take more/);
    assertStringIncludes(todosIn(output), "Pull or create the model again, or remove");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("doctor tells of a store that is not there, is a file, or cannot be written", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const missing = await runDoctor({ environment: { QUERN_MODELS: join(folder, "a", "b") } });
    assertEquals(missing.code, 0);
    assertMatch(missing.output, /not\s+there\s+yet;\s+the\s+first\s+pull\s+makes\s+it/);
    assertEquals([...Deno.readDirSync(folder)], []);

    await Deno.writeTextFile(join(folder, "file"), "");
    const file = await runDoctor({ environment: { QUERN_MODELS: join(folder, "file", "b") } });
    assertEquals(file.code, 1);
    assertStringIncludes(todosIn(file.output), "Name a folder in OLLAMA_MODELS");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
  // Nobody may make files there, root included.
  if (Deno.build.os !== "linux") return;
  const locked = await runDoctor({ environment: { QUERN_MODELS: "/proc/models" } });
  assertEquals(locked.code, 1);
  assertStringIncludes(todosIn(locked.output), `sudo chown -R "$USER" "/proc"`);
});

Deno.test("doctor --json has the same as one JSON object, with numbers in full", async () => {
  const { code, output } = await runDoctor({ gpu: NO_GPU, files: DEBIAN }, { json: true });
  const report = JSON.parse(output);
  assertEquals([code, report.state], [1, "problem"]);
  const titles = report.sections.map(({ title }: { title: string }) => title);
  assertEquals(titles, [
    "Program",
    "Device",
    "Memory",
    "Models",
    "Server",
    "Environment",
    "Models elsewhere",
  ]);
  const [, gpu, memory] = report.sections;
  assertEquals(gpu.findings[0].mark, "problem");
  assertStringIncludes(gpu.findings[0].todo.command, APT);
  assertEquals(memory.facts.budget.total, 22 * 2 ** 30);
  assertEquals(memory.facts.sizes[2].types.Q8_0.fits, true);
});

Deno.test("doctor fits its lines to a narrow window, but for commands and long words", async () => {
  const terminal = new FakeTerminal();
  terminal.columns = 56;
  const { output } = await runDoctor({ gpu: NO_GPU, files: DEBIAN }, { terminal });
  const long = output.split("\n").filter((line) => line.length > 56);
  assert(long.every((line) => /sudo|\/\S{40}/.test(line)), long.join("\n"));
  assertMatch(output, /11434:\n {19}commands load models themselves,\n/);
});

const CACHE = { QUERN_CACHE: "/cache" };

const TUNED: DeviceTuning = {
  description: "NVIDIA Test GPU",
  isUsual: false,
  kernels: [{
    of: {
      ...{ kernel: "product", format: "Q4_K", rows: 4096, columns: 4096, sides: 1, tokens: 1 },
      ...{ integer: true, quantized: false },
    },
    chosen: "2x1, 32 of 64",
    trials: [
      { name: "4x1, 32 of 64", seconds: 30e-6 },
      { name: "2x1, 32 of 64", seconds: 20e-6 },
      { name: "8x1, 32 of 64", fault: "9 of 480 values are not those of the plain reference" },
    ],
  }],
};

Deno.test("doctor --tune prints what each kernel takes untuned and tuned, and what is wrong", async () => {
  const options = { tune: true, terminal: wideTerminal() };
  const { output, code } = await runDoctor(
    { tuning: TUNED, server: QUERN_SERVER, environment: CACHE },
    options,
  );
  assertEquals(code, 0);
  const text = output.replaceAll(/\s+/g, " ");
  assertStringIncludes(
    text,
    "tuning kernels of the models loaded here: 1, of which 1 are faster in",
  );
  const [usual, chosen] = ["4x1, 32 of 64 30.0", "2x1, 32 of 64 20.0"];
  assertStringIncludes(text, `4096x4096, int8 to f32, 1 token ${usual} ${chosen} 1.50 times`);
  assertStringIncludes(text, "8x1, 32 of 64: 9 of 480 values are not those of the plain");
});

Deno.test("doctor --tune says why there is nothing to tune, and what came in between", async () => {
  const reason = "models run on the CPU, whose kernels have no choices";
  const nothing = { description: "CPU", reason, isUsual: false, kernels: [] };
  const options = () => ({ tune: true, terminal: wideTerminal() });
  const none = await runDoctor({ tuning: nothing, environment: CACHE }, options());
  assertMatch(none.output, /ok +tuning +none: models run on the CPU/);
  const tuning = new GpuError("Cannot time kernels: lost");
  const failed = await runDoctor({ tuning, environment: CACHE }, options());
  assertMatch(failed.output, /warning +tuning +stopped: Cannot time kernels: lost/);
  const nowhere = await runDoctor({ tuning: TUNED }, options());
  assertMatch(nowhere.output, /stopped: there is no folder to keep it in: set QUERN_CACHE/);
  const unasked = await runDoctor({ tuning: TUNED }, { terminal: wideTerminal() });
  assert(!unasked.output.includes("tuning"), unasked.output);
});

const FAULTS = [3, 5, 9, 17].map((rows) => ({
  what: `linear Q4_K of layer 0 (qkv), ${rows} rows`,
  how: "off by 0.012 of the power, and by up to 2.3 times the mean value",
}));

Deno.test("doctor tells of models that the GPU computes right, and of those that it does not", async () => {
  const right = { name: "Right", faults: [], milliseconds: 900 };
  const well = await runDoctor({ proved: [right, right] }, { terminal: wideTerminal() });
  assertMatch(well.output, /ok +proof +2 models computed as on the CPU/);
  const proved = [right, { name: "Wrong 8B", faults: FAULTS, milliseconds: 900 }];
  const { output, code } = await runDoctor({ proved }, { terminal: wideTerminal() });
  assertEquals(code, 1);
  const text = output.replaceAll(/\s+/g, " ");
  assertStringIncludes(text, "ok proof 1 model computed as on the CPU");
  assertStringIncludes(
    text,
    "problem proof Wrong 8B is not what the CPU computes, which answers instead: linear Q4_K of " +
      "layer 0 (qkv), 3 rows, off by 0.012 of the power",
  );
  assertStringIncludes(text, "; and 1 more");
  assertStringIncludes(todosIn(output), "Update the driver of the GPU.");
});

Deno.test("doctor --prove compares all models of the store, and says which are wrong", async () => {
  const folder = await Deno.makeTempDir();
  try {
    for (const name of ["right", "wrong", "broken"]) {
      await Deno.writeTextFile(join(folder, `${name}.gguf`), "");
    }
    const machine: FakeMachine = {
      environment: { ...CACHE, QUERN_MODELS: folder, QUERN_NO_PROOF: "1" },
      inspect: () => Promise.resolve({ architecture: "llama" } as never),
      prove(path) {
        if (path.includes("broken")) throw new GpuError("Cannot use the GPU: device lost: reset");
        const device = "NVIDIA Test GPU";
        const refusal = path.includes("wrong") && { refusal: { device, faults: FAULTS } };
        return { device, isCompared: true, milliseconds: 1234, ...refusal };
      },
    };
    const options = () => ({ prove: true, terminal: wideTerminal() });
    const { output, code } = await runDoctor(machine, options());
    assertEquals(code, 1);
    assertMatch(
      output,
      /ok +right:latest +NVIDIA Test GPU computes it as the CPU does, compared in 1\.23s/,
    );
    assertMatch(output, /problem +wrong:latest +wrong:latest is not what the CPU computes/);
    assertMatch(output, /warning +broken:latest +Cannot use the GPU: device lost: reset/);
    const report = await runDoctor(machine, { ...options(), json: true });
    const { sections } = JSON.parse(report.output);
    assertEquals(sections.at(-1).facts["wrong:latest"].refusal.faults, FAULTS);
    const onCpu = await runDoctor({
      ...machine,
      prove: () => ({ device: "CPU, 4 threads", isCompared: false, milliseconds: 1 }),
    }, options());
    assertMatch(onCpu.output, /ok +none +CPU, 4 threads, with which others are compared/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
