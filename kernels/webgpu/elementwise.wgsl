// y = f(y, x) for vectors of columns within each row of y; a constant chooses f from the lines below.
// Vector v begins at column first + v * step. HAS_X: x has vectors, too. If its stride is 0, one row of
// x serves all rows; if its step is 0, one vector serves all vectors of a row. Column c of y's vector
// reads column c / repeat of x's. GATED: x is multiplied by the sigmoid of a column of its row first. One
// invocation per value; grid y is the row, grid z the vector.
struct Params {
  columns: u32,
  first: u32,
  step: u32,       // columns from one vector to the next
  stride: u32,     // floats in a row of y
  x_first: u32,
  x_step: u32,
  x_stride: u32,
  repeat: u32,     // columns of y that share one of x
  factor: f32,
  #if GATED
  gate_first: u32,
  gate_stride: u32,
  #end
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;   // [rows, stride]
#if HAS_X
@group(0) @binding(2) var<storage, read> x: array<f32>;         // [rows or 1, x_stride]
#end
#if GATED
@group(0) @binding(3) var<storage, read> gate: array<f32>;      // [rows, gate_stride]
#end

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x >= params.columns) {
    return;
  }
  let at = id.y * params.stride + params.first + id.z * params.step + id.x;
  let a = y[at];
  #if HAS_X
  let from_row = id.y * params.x_stride + params.x_first + id.z * params.x_step;
  var b = x[from_row + id.x / params.repeat];
  #if GATED
  b *= sigmoid(gate[id.y * params.gate_stride + params.gate_first]);
  #end
  #end
  #if COPY
  y[at] = b * params.factor;
  #end
  #if ADD
  y[at] = a + b * params.factor;
  #end
  #if MULTIPLY
  y[at] = a * b;
  #end
  #if WEIGH
  y[at] = select(a * b, 0.0, b == 0.0);
  #end
  #if SCALE
  y[at] = a * params.factor;
  #end
  #if SIGMOID_GATE
  y[at] = a * sigmoid(b);
  #end
  #if GELU_GATE
  y[at] = gate(a, b);
  #end
  // Comparisons, because max() and min() may give the bound where a is NaN, and hide it.
  #if AT_LEAST
  y[at] = select(a, params.factor, a < params.factor);
  #end
  #if AT_MOST
  y[at] = select(a, params.factor, a > params.factor);
  #end
  #if SOFTCAP
  y[at] = soft_capped(a, params.factor);
  #end
}
