// y = silu(gate) * up (Shazeer 2020) where gate and up could not share one product: the two halves
// of a row of x. One invocation per group of 32 columns. QUANTIZED_OUTPUT: y as int8 groups.
struct Params {
  groups: u32,   // groups of 32 columns of y; x has twice as many
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;                // [rows, 2, groups, 8]
#if QUANTIZED_OUTPUT
@group(0) @binding(2) var<storage, read_write> y_quants: array<vec4<u32>>;   // [rows, groups, 2]
@group(0) @binding(3) var<storage, read_write> y_scales: array<vec4<f32>>;   // [rows, groups]
#else
@group(0) @binding(2) var<storage, read_write> y: array<vec4<f32>>;          // [rows, groups, 8]
#end

fn silu(x: vec4<f32>) -> vec4<f32> {
  return x / (1.0 + exp(-x));
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let group = id.x;
  if (group >= params.groups) {
    return;
  }
  let gate = (id.y * 2u * params.groups + group) * 8u;
  let up = gate + params.groups * 8u;
  let at = id.y * params.groups + group;
  #for j in 0..8
  let x$j = silu(x[gate + $j]) * x[up + $j];
  #end
  #if QUANTIZED_OUTPUT
  let quantized = quantize_group(x0, x1, x2, x3, x4, x5, x6, x7);
  y_quants[2u * at] = quantized.low;
  y_quants[2u * at + 1u] = quantized.high;
  y_scales[at] = quantized.scales;
  #else
  #for j in 0..8
  y[8u * at + $j] = x$j;
  #end
  #end
}
