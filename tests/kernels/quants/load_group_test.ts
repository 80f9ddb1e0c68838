// Holds the shaders that read repacked planes against the CPU references, for seeded random blocks:
// both paths must give the same floats to the last bit, subnormal ones excepted. Needs a WebGPU adapter.

import { assertEquals } from "@std/assert";
import groupShader from "../../../kernels/webgpu/group.wgsl" with { type: "text" };
import { weightConstants } from "../../../kernels/webgpu/weight_code.ts";
import { expandTemplate, requestAdapter } from "../../../kernels/webgpu/mod.ts";
import { type QuantFormat, quantFormats, repack } from "../../../kernels/quants/mod.ts";
import { randomBlocks } from "./random_blocks.ts";

/** Relies on `uniformGroup` and `hasMinimum` as the kernels do. */
function expandGroups({ uniformGroup, hasMinimum }: QuantFormat): string {
  const last = uniformGroup ? "x" : "y";
  return `
fn weights(codes: u32, scale: f32, minimum: f32) -> vec4<f32> {
  return scale * vec4<f32>(unpack4xI8(codes)) + vec4(minimum);
}

@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if 8u * id.x >= arrayLength(&result) {
    return;
  }
  let group = load_group(id.x);
  let minimum = ${hasMinimum ? "group.minimum" : "vec2(0.0)"};
  for (var i = 0u; i < 4u; i++) {
    result[8u * id.x + i] = weights(group.low[i], group.scale.x, minimum.x);
    result[8u * id.x + 4u + i] = weights(group.high[i], group.scale.${last}, minimum.${last});
  }
}`;
}

const EXPAND_FLOATS = `
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if id.x < arrayLength(&result) {
    result[id.x] = load_floats(id.x);
  }
}`;

function shaderOf(format: QuantFormat): string {
  const { planes, codebook } = format;
  const tables = codebook ? [...planes, { ...codebook, name: "codebook" }] : planes;
  const bindings = tables.map(({ name, type }, index) =>
    `@group(0) @binding(${index + 1}) var<storage, read> w_${name}: array<${type}>;\n`
  );
  const result = "@group(0) @binding(0) var<storage, read_write> result: array<vec4<f32>>;\n";
  const main = format.kind === "integer" ? expandGroups(format) : EXPAND_FLOATS;
  const constants = weightConstants(format);
  return expandTemplate(
    result + bindings.join("") + groupShader + format.snippet + main,
    constants,
  );
}

/** A storage buffer with the plane's bytes and zeros up to a multiple of 16. */
function upload(device: GPUDevice, plane: Uint8Array): GPUBuffer {
  const padded = new Uint8Array(Math.ceil(plane.length / 16) * 16);
  padded.set(plane);
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST;
  const buffer = device.createBuffer({ size: padded.length, usage });
  device.queue.writeBuffer(buffer, 0, padded);
  return buffer;
}

async function expand(
  device: GPUDevice,
  format: QuantFormat,
  planes: Uint8Array[],
  weights: number,
): Promise<Float32Array> {
  device.pushErrorScope("validation");
  const module = device.createShaderModule({ code: shaderOf(format) });
  const pipeline = device.createComputePipeline({ layout: "auto", compute: { module } });
  const result = device.createBuffer({
    size: 4 * weights,
    usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC,
  });
  const readback = device.createBuffer({
    size: 4 * weights,
    usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST,
  });
  const buffers = [result, ...planes.map((plane) => upload(device, plane))];
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(
    0,
    device.createBindGroup({
      layout: pipeline.getBindGroupLayout(0),
      entries: buffers.map((buffer, binding) => ({ binding, resource: { buffer } })),
    }),
  );
  pass.dispatchWorkgroups(Math.ceil(weights / 4 / 64));
  pass.end();
  encoder.copyBufferToBuffer(result, 0, readback, 0, 4 * weights);
  device.queue.submit([encoder.finish()]);
  const error = await device.popErrorScope();
  if (error) throw new Error(`Expanding ${format.name}: ${error.message}`);
  await readback.mapAsync(GPUMapMode.READ);
  const floats = new Float32Array(readback.getMappedRange().slice(0));
  for (const buffer of [...buffers, readback]) buffer.destroy();
  return floats;
}

const adapter = await requestAdapter(navigator.gpu);

for (const format of quantFormats) {
  const loader = format.kind === "integer" ? "load_group()" : "load_floats()";
  Deno.test({
    name: `${loader} of ${format.name} equals dequantize() (on a WebGPU adapter)`,
    ignore: !adapter,
    async fn() {
      const device = await adapter!.requestDevice();
      for (const count of [1, 3, 37]) {
        const blocks = format.kind === "integer" ? count : 4 * count;
        const source = randomBlocks(format, blocks, 1000 * format.ggmlType + count);
        const planes = repack(format, source, blocks);
        if (format.codebook) planes.push(new Uint8Array(format.codebook.words.slice().buffer));
        const actual = await expand(device, format, planes, blocks * format.blockSize);
        const expected = format.dequantize(source, blocks).map(positiveZero);
        assertEquals(actual.map(positiveZero), expected.map((w, i) => flushed(w, actual[i])));
      }
      device.destroy();
    },
  });
}

/** WGSL allows subnormal floats to count as zero, as MXFP4's least scales are: times at most 12. */
function flushed(weight: number, actual: number): number {
  return actual === 0 && Math.abs(weight) < 12 * 2 ** -126 ? 0 : weight;
}

/** Adding the minimum, even of zero, loses the sign of zero. */
function positiveZero(weight: number): number {
  return weight + 0;
}
