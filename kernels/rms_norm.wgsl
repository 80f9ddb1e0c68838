// y = x / sqrt(mean(x^2) + epsilon) * weight, one workgroup per row (Zhang and Sennrich 2019).
// GATHER: row i of y is row source[i] of x. QUANTIZED_OUTPUT: y as int8 groups of 32.
// Columns past params.columns are padding: zero in x and in weight, so zero in y.
struct Params {
  columns: u32,
  groups: u32,   // groups of 32 columns, padding included
  epsilon: f32,
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;       // [rows, groups, 8]
@group(0) @binding(2) var<storage, read> weight: array<vec4<f32>>;  // [groups, 8]
#if GATHER
@group(0) @binding(3) var<storage, read> source: array<u32>;        // [rows of y]
#end
#if QUANTIZED_OUTPUT
@group(0) @binding(4) var<storage, read_write> y_quants: array<vec4<u32>>;  // [rows, groups, 2]
@group(0) @binding(5) var<storage, read_write> y_scales: array<vec4<f32>>;  // [rows, groups]
#else
@group(0) @binding(4) var<storage, read_write> y: array<vec4<f32>>;         // [rows, groups, 8]
#end

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let width = params.groups * 8u;
  #if GATHER
  let from_row = source[workgroup.x] * width;
  #else
  let from_row = workgroup.x * width;
  #end
  var squares = 0.0;
  for (var i = thread; i < width; i += WORKGROUP) {
    let value = x[from_row + i];
    squares += dot(value, value);
  }
  let mean = workgroup_sum(squares, thread) / f32(params.columns);
  let scale = inverseSqrt(mean + params.epsilon);

  #if QUANTIZED_OUTPUT
  for (var group = thread; group < params.groups; group += WORKGROUP) {
    #for j in 0..8
    let x$j = x[from_row + group * 8u + $j] * scale * weight[group * 8u + $j];
    #end
    let quantized = quantize_group(x0, x1, x2, x3, x4, x5, x6, x7);
    let at = workgroup.x * params.groups + group;
    y_quants[2u * at] = quantized.low;
    y_quants[2u * at + 1u] = quantized.high;
    y_scales[at] = quantized.scales;
  }
  #else
  for (var i = thread; i < width; i += WORKGROUP) {
    y[workgroup.x * width + i] = x[from_row + i] * scale * weight[i];
  }
  #end
}
