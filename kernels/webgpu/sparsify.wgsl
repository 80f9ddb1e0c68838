// x = max(0, x - (mean + factor * deviation)) in place, one workgroup per row. The deviation is that
// of a sample: the sum of squares divided by one less than the columns.
struct Params {
  columns: u32,
  stride: u32,   // floats in a row
  factor: f32,
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> x: array<f32>;   // [rows, stride]

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let first = workgroup.x * params.stride;
  let last = first + params.columns;
  var sum = 0.0;
  for (var at = first + thread; at < last; at += WORKGROUP) {
    sum += x[at];
  }
  let mean = workgroup_sum(sum, thread) / f32(params.columns);
  var squares = 0.0;
  for (var at = first + thread; at < last; at += WORKGROUP) {
    squares += (x[at] - mean) * (x[at] - mean);
  }
  let deviation = sqrt(workgroup_sum(squares, thread) / f32(params.columns - 1u));
  let threshold = mean + params.factor * deviation;
  for (var at = first + thread; at < last; at += WORKGROUP) {
    let rest = x[at] - threshold;
    x[at] = select(rest, 0.0, rest < 0.0); // max() may turn NaN into 0
  }
}
