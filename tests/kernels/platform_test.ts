// What the name of a GPU tells of it, because WebGPU does not.

import { assertEquals } from "@std/assert";
import { adapterFacts, WebGpuDevice } from "../../kernels/webgpu/mod.ts";
import { webGpuTest } from "../adapter.ts";
import { pretendGpu } from "../pretended_gpu.ts";
import { profileNamed } from "../profiles.ts";

const emulates = (description: string) =>
  adapterFacts({ description } as GPUAdapterInfo, "linux").emulatesPackedDot;

Deno.test("adapterFacts() know GPUs without an instruction for products of four int8", () => {
  const without = [
    "Apple M3 Max",
    "Apple A17 Pro GPU",
    "Apple Paravirtual device",
    "AMD Radeon RX 5700 XT (RADV NAVI10)",
    "AMD Radeon RX 5700 XT",
    "AMD Radeon RX 580 Series (RADV POLARIS10)",
    "AMD Radeon RX 480 Graphics",
    "AMD Radeon RX Vega (RADV VEGA10)",
    "Radeon RX Vega",
    "AMD Radeon(TM) Vega 8 Graphics",
    "AMD Radeon Graphics (RADV RENOIR)",
    "AMD Radeon R9 200 Series (RADV HAWAII)",
    "Intel(R) HD Graphics 620 (KBL GT2)",
    "Intel(R) UHD Graphics 630 (CFL GT2)",
    "Intel(R) Iris(R) Plus Graphics (ICL GT2)",
    "NVIDIA GeForce GTX 980 Ti",
    "NVIDIA GeForce GTX 970M",
    "NVIDIA GeForce GT 730",
  ];
  assertEquals(without.filter((name) => !emulates(name)), []);
});

Deno.test("adapterFacts() take other GPUs to have that instruction", () => {
  const having = [
    "",
    "llvmpipe (LLVM 15.0.6, 256 bits)",
    "AMD Radeon RX 7900 XTX (RADV NAVI31)",
    "AMD Radeon RX 5500 XT (RADV NAVI14)",
    "AMD Radeon RX 5500 XT",
    "AMD Radeon RX 6700 XT",
    "AMD Radeon VII (RADV VEGA20)",
    "AMD Radeon 780M Graphics (RADV PHOENIX)",
    "AMD Unknown (RADV GFX1201)",
    "Intel(R) Arc(TM) A770 Graphics (DG2)",
    "Intel(R) Iris(R) Xe Graphics (TGL GT2)",
    "Intel(R) UHD Graphics 770 (ADL-S GT1)",
    "NVIDIA GeForce GTX 1050",
    "NVIDIA GeForce GTX 1660 SUPER",
    "NVIDIA GeForce RTX 4070",
    "Adreno (TM) 740",
    "Mali-G715",
  ];
  assertEquals(having.filter(emulates), []);
});

Deno.test("adapterFacts() know them by vendor and architecture, which is all that browsers tell", () => {
  const facts = (vendor: string, architecture: string) =>
    adapterFacts({ vendor, architecture, description: "", device: "" } as GPUAdapterInfo, "linux");
  const without = [
    ["apple", "metal-3"],
    ["apple", "common-3"],
    ["apple", ""],
    ["Apple", "apple-9"],
    ["amd", "metal-3"],
    ["amd", "gcn-5"],
    ["amd", "rdna-1"],
    ["intel", "gen-9"],
    ["intel", "gen-11"],
    ["nvidia", "maxwell"],
    ["arm", "midgard"],
  ];
  const having = [
    ["amd", "rdna-2"],
    ["amd", "rdna-3"],
    ["intel", "gen-12lp"],
    ["intel", "xe-2lpg"],
    ["nvidia", "pascal"],
    ["nvidia", "lovelace"],
    ["qualcomm", "adreno-7xx"],
    ["google", "swiftshader"],
    ["", ""],
  ];
  const emulating = (gpus: string[][]) => gpus.filter(([v, a]) => facts(v!, a!).emulatesPackedDot);
  assertEquals(emulating(without), without);
  assertEquals(emulating(having), []);
});

Deno.test("adapterFacts() take all hardware under macOS to emulate it, since Metal's language lacks it", () => {
  const facts = (info: Partial<GPUAdapterInfo>) => adapterFacts(info as GPUAdapterInfo, "darwin");
  assertEquals(facts({ description: "AMD Radeon Pro W6800X" }).emulatesPackedDot, true);
  assertEquals(facts({ description: "SwiftShader Device" }).emulatesPackedDot, false);
});

webGpuTest("A GPU that is pretended to be Apple's multiplies in f32, others in int8", async () => {
  const opened = async (named: Partial<GPUAdapterInfo>) => {
    const pretended = pretendGpu(profileNamed("subgroups of 4,64, 32 KiB"));
    const gpu = {
      ...pretended,
      async requestAdapter() {
        const adapter = (await pretended.requestAdapter())!;
        return { ...adapter, info: { ...adapter.info, description: "", ...named } };
      },
    } as unknown as GPU;
    using device = await WebGpuDevice.open({ gpu });
    return device.capabilities.packedDot;
  };
  assertEquals(await opened({ vendor: "apple", architecture: "metal-3" }), false);
  assertEquals(await opened({ vendor: "amd", architecture: "rdna-3" }), true);
});
