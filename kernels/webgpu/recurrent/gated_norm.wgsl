// RMSNorm of groups of columns within each row, with one workgroup for each group: y = norm(x) * weight.
// GATED: y = norm(x) * weight * f(z), the gate of a delta net, where f is silu, or sigmoid with SIGMOID.
struct Params {
  columns: u32,      // of a group
  groups: u32,
  weight_step: u32,  // 0 where all groups share their weights, else columns
  x_stride: u32,     // floats in a row of x; the other strides likewise
  x_first: u32,
  z_stride: u32,
  z_first: u32,
  y_stride: u32,
  epsilon: f32,
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;       // [rows, groups, columns]
#if GATED
@group(0) @binding(2) var<storage, read> z: array<f32>;       // [rows, groups, columns]
#end
@group(0) @binding(3) var<storage, read> weight: array<f32>;  // [groups, columns] or [columns]
@group(0) @binding(4) var<storage, read_write> y: array<f32>; // [rows, y_stride]

#if GATED
fn gate(row: u32, column: u32) -> f32 {
  let value = z[row * params.z_stride + params.z_first + column];
  #if SIGMOID
  return sigmoid(value);
  #else
  return silu(value);
  #end
}
#end

fn input(row: u32, column: u32) -> f32 {
  return x[row * params.x_stride + params.x_first + column];
}

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let row = workgroup.y;
  let first = workgroup.x * params.columns;
  var squares = 0.0;
  for (var i = thread; i < params.columns; i += WORKGROUP) {
    let value = input(row, first + i);
    squares += value * value;
  }
  let mean = workgroup_sum(squares, thread) / f32(params.columns);
  let scale = inverseSqrt(mean + params.epsilon);

  for (var i = thread; i < params.columns; i += WORKGROUP) {
    var value = input(row, first + i) * scale * weight[workgroup.x * params.weight_step + i];
    #if GATED
    value *= gate(row, first + i);
    #end
    y[row * params.y_stride + first + i] = value;
  }
  if (workgroup.x + 1u == params.groups) {
    for (var i = first + params.columns + thread; i < params.y_stride; i += WORKGROUP) {
      y[row * params.y_stride + i] = 0.0;
    }
  }
}
