// Rows side by side: y[row] = x[sources[row, 0]], x[sources[row, 1]] and so on, zeros for NO_ROW. A
// convolution is a product with what this gathers. One invocation per quad; grid y is the row.
struct Params {
  quads: u32,   // quads of a row of x
  taps: u32,    // rows of x in a row of y
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;         // [rows of x, quads]
@group(0) @binding(2) var<storage, read> sources: array<u32>;         // [rows, taps]
@group(0) @binding(3) var<storage, read_write> y: array<vec4<f32>>;   // [rows, taps, quads]

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let quads = params.taps * params.quads;
  if (id.x >= quads) {
    return;
  }
  let source = sources[id.y * params.taps + id.x / params.quads];
  var value = vec4<f32>(0.0);
  if (source != NO_ROW) {
    value = x[source * params.quads + id.x % params.quads];
  }
  y[id.y * quads + id.x] = value;
}
