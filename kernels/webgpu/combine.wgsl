// The output of a mixture of experts for a row: y[row] = sum over c of weights[row, c] * x[row, c],
// where x[row, c] is the output of the row's c-th expert. One invocation per four columns, y over rows.
// Without WEIGHTED the outputs are weighted already. ACCUMULATE: y += the sum (the residual stream).
struct Params {
  columns: u32,    // vectors in a row of x
  stride: u32,     // vectors in a row of y
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;          // [rows, TOP_K, columns]
#if WEIGHTED
@group(0) @binding(2) var<storage, read> weights: array<f32>;          // [rows, TOP_K]
#end
@group(0) @binding(3) var<storage, read_write> y: array<vec4<f32>>;    // [rows, stride]

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x >= params.columns) {
    return;
  }
  let first = id.y * TOP_K;
  var sum = vec4(0.0);
  for (var c = 0u; c < TOP_K; c++) {
    #if WEIGHTED
    sum += weights[first + c] * x[(first + c) * params.columns + id.x];
    #else
    sum += x[(first + c) * params.columns + id.x];
    #end
  }
  let at = id.y * params.stride + id.x;
  #if ACCUMULATE
  y[at] += sum;
  #else
  y[at] = sum;
  #end
}
