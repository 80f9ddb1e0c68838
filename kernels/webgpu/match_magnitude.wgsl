// y *= |reference| / |y| for vectors of columns within each row, one workgroup each; |.| is the L2
// norm. Vector v of y begins at column first + v * step; all of a row share its reference. A vector
// of zeros stays zero.
struct Params {
  columns: u32,
  first: u32,
  step: u32,               // columns from one vector to the next
  stride: u32,             // floats in a row of y
  reference_first: u32,
  reference_stride: u32,
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> reference: array<f32>;   // [rows, reference_stride]
@group(0) @binding(2) var<storage, read_write> y: array<f32>;     // [rows, stride]

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let row = workgroup.x;
  let from_first = row * params.reference_stride + params.reference_first;
  let to_first = row * params.stride + params.first + workgroup.y * params.step;
  var wanted = 0.0;
  var squares = 0.0;
  for (var i = thread; i < params.columns; i += WORKGROUP) {
    wanted += reference[from_first + i] * reference[from_first + i];
    squares += y[to_first + i] * y[to_first + i];
  }
  let total = workgroup_sum(wanted, thread);
  let own = workgroup_sum(squares, thread);
  let scale = select(0.0, sqrt(total / own), own > 0.0);
  for (var i = thread; i < params.columns; i += WORKGROUP) {
    y[to_first + i] *= scale;
  }
}
