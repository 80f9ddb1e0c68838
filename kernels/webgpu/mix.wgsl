// y[k] += sum over j of (weights[row, k, j] + bias) * x[j] for OUTPUTS vectors k of a row of y and
// INPUTS vectors j of the same row of x. Vector v of y begins at column first + v * step of its row,
// those of x likewise. IN_PLACE: x is in y's buffer; every column is read before it is written.
// One invocation per column, rows over y.
struct Params {
  columns: u32,
  weights_stride: u32,   // floats in a row of weights
  x_first: u32,
  x_step: u32,
  x_stride: u32,
  first: u32,
  step: u32,             // columns from one vector to the next
  stride: u32,           // floats in a row of y
  bias: f32,
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> weights: array<f32>;   // [rows, weights_stride]
#if !IN_PLACE
@group(0) @binding(2) var<storage, read> x: array<f32>;         // [rows, x_stride]
#end
@group(0) @binding(3) var<storage, read_write> y: array<f32>;   // [rows, stride]

fn input(at: u32) -> f32 {
  #if IN_PLACE
  return y[at];
  #else
  return x[at];
  #end
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x >= params.columns) {
    return;
  }
  let from_row = id.y * params.x_stride + params.x_first + id.x;
  #for j in 0..INPUTS
  let x$j = input(from_row + $j * params.x_step);
  #end
  let weights_row = id.y * params.weights_stride;
  for (var k = 0u; k < OUTPUTS; k++) {
    let of_output = weights_row + k * INPUTS;
    var sum = 0.0;
    #for j in 0..INPUTS
    sum += (weights[of_output + $j] + params.bias) * x$j;
    #end
    y[id.y * params.stride + params.first + k * params.step + id.x] += sum;
  }
}
