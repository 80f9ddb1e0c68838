// What the name of a GPU tells of it, because WebGPU does not.

import { assertEquals } from "@std/assert";
import { adapterFacts } from "../../kernels/webgpu/mod.ts";

const emulates = (description: string) =>
  adapterFacts({ description } as GPUAdapterInfo).emulatesPackedDot;

Deno.test("adapterFacts() know GPUs without an instruction for products of four int8", () => {
  const without = [
    "Apple M3 Max",
    "Apple A17 Pro GPU",
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
