// y = f(x), with f from activation_function.wgsl. With GATED y = f(gate) * up, where gate is the first
// half of a row of x and up the second; it serves where no product computes both at once. One
// invocation per group of 32 columns. QUANTIZED_OUTPUT: y as int8 groups.
struct Params {
  groups: u32,   // groups of 32 columns of y; a gated x has twice as many
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;                // [rows, 1 or 2, groups, 8]
#if QUANTIZED_OUTPUT
@group(0) @binding(2) var<storage, read_write> y: array<QuantizedGroup>;  // [rows, groups]
#else
@group(0) @binding(2) var<storage, read_write> y: array<vec4<f32>>;          // [rows, groups, 8]
#end

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let group = id.x;
  if (group >= params.groups) {
    return;
  }
  let at = id.y * params.groups + group;
  #if GATED
  let from_gate = (id.y * 2u * params.groups + group) * 8u;
  let from_up = from_gate + params.groups * 8u;
  #for j in 0..8
  let g$j = x[from_gate + $j];
  let u$j = x[from_up + $j];
  let x$j = vec4(gate(g$j.x, u$j.x), gate(g$j.y, u$j.y), gate(g$j.z, u$j.z), gate(g$j.w, u$j.w));
  #end
  #else
  #for j in 0..8
  let g$j = x[8u * at + $j];
  let x$j = vec4(activate(g$j.x), activate(g$j.y), activate(g$j.z), activate(g$j.w));
  #end
  #end
  #if QUANTIZED_OUTPUT
  y[at] = quantize_group(x0, x1, x2, x3, x4, x5, x6, x7);
  #else
  #for j in 0..8
  y[8u * at + $j] = x$j;
  #end
  #end
}
