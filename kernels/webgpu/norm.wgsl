// Normalization of vectors, one workgroup each: RMSNorm (Zhang and Sennrich 2019), or LAYER:
// LayerNorm (Ba et al. 2016). A vector is `columns` wide and begins at column first + i * columns of
// its row of x, i from 0 on: heads within a row, or whole rows.
// WEIGHT: times a factor per column (weight_step apart for each i). BIAS: plus a term per column.
// GATHER: row r of y is row source[r] of x. IN_PLACE: y is x. ADD: y += the result.
// QUANTIZED_OUTPUT: y as int8 groups of 32. NEXT: next = RMSNorm of the sum, times next_weight, as f32 or
// with QUANTIZED_NEXT as int8 groups. SQUARES: sums of squares come after the rows of y, zeros, as
// the rows are whole. Columns past `columns` are padding, zero in x and in y.
struct Params {
  columns: u32,
  width: u32,        // quads of a vector, with the padding of a whole row
  first: u32,        // column of x, and of y unless it is int8, where vector 0 begins
  stride: u32,       // floats in a row of x
  y_stride: u32,     // floats in a row of y
  weight_step: u32,  // 0 where all vectors of a row share their weights
  epsilon: f32,
  #if NEXT
  next_epsilon: f32,
  #end
  #if SQUARES
  squares: u32,       // quad of y at which they begin
  square_quads: u32,  // quads of them for each row
  #end
}
@group(0) @binding(0) var<uniform> params: Params;
#if !IN_PLACE
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;       // [rows, stride / 4]
#end
#if WEIGHT
@group(0) @binding(2) var<storage, read> weight: array<vec4<f32>>;
#end
#if BIAS
@group(0) @binding(3) var<storage, read> bias: array<vec4<f32>>;
#end
#if GATHER
@group(0) @binding(4) var<storage, read> source: array<u32>;        // [rows of y]
#end
#if QUANTIZED_OUTPUT
@group(0) @binding(5) var<storage, read_write> y: array<QuantizedGroup>;  // [rows, width / 8]
#else
@group(0) @binding(5) var<storage, read_write> y: array<vec4<f32>>;         // [rows, y_stride / 4]
#end

#if NEXT
@group(0) @binding(6) var<storage, read> next_weight: array<vec4<f32>>;
#if QUANTIZED_NEXT
@group(0) @binding(7) var<storage, read_write> next: array<QuantizedGroup>;  // [rows, width / 8]
#else
@group(0) @binding(7) var<storage, read_write> next: array<vec4<f32>>;      // [rows, width]
#end
#end

fn input(at: u32) -> vec4<f32> {
  #if IN_PLACE
  return y[at];
  #else
  return x[at];
  #end
}

#if LAYER
// Ones for the columns of four that are not padding.
fn inside(i: u32) -> vec4<f32> {
  return vec4<f32>(vec4(4u * i) + vec4(0u, 1u, 2u, 3u) < vec4(params.columns));
}
#end

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let width = params.width;
  let column = (params.first + workgroup.y * params.columns) / 4u;
  #if GATHER
  let from_row = source[workgroup.x] * (params.stride / 4u) + column;
  #else
  let from_row = workgroup.x * (params.stride / 4u) + column;
  #end
  let to_row = workgroup.x * (params.y_stride / 4u) + column;

  #if LAYER
  var sum = 0.0;
  for (var i = thread; i < width; i += WORKGROUP) {
    sum += dot(input(from_row + i), vec4(1.0));
  }
  let mean = workgroup_sum(sum, thread) / f32(params.columns);
  #end
  var squares = 0.0;
  for (var i = thread; i < width; i += WORKGROUP) {
    #if LAYER
    let value = (input(from_row + i) - mean) * inside(i);
    #else
    let value = input(from_row + i);
    #end
    squares += dot(value, value);
  }
  let scale = inverseSqrt(workgroup_sum(squares, thread) / f32(params.columns) + params.epsilon);

  #if QUANTIZED_OUTPUT
  for (var group = thread; group < width / 8u; group += WORKGROUP) {
    #for j in 0..8
    let i$j = group * 8u + $j;
    var x$j = input(from_row + i$j);
    #if LAYER
    x$j = (x$j - mean) * inside(i$j);
    #end
    x$j *= scale;
    #if WEIGHT
    x$j *= weight[i$j];
    #end
    #if BIAS
    x$j += bias[i$j];
    #end
    #end
    let at = workgroup.x * (width / 8u) + group;
    y[at] = quantize_group(x0, x1, x2, x3, x4, x5, x6, x7);
  }
  #else
  #if NEXT
  var next_squares = 0.0;
  #end
  for (var i = thread; i < width; i += WORKGROUP) {
    var value = input(from_row + i);
    #if LAYER
    value = (value - mean) * inside(i);
    #end
    value *= scale;
    #if WEIGHT
    value *= weight[workgroup.y * (params.weight_step / 4u) + i];
    #end
    #if BIAS
    value += bias[i];
    #end
    #if ADD
    value += y[to_row + i];
    #end
    y[to_row + i] = value;
    #if NEXT
    next_squares += dot(value, value);
    #end
  }
  #end
  #if NEXT
  let next_mean = workgroup_sum(next_squares, thread) / f32(params.columns);
  let next_scale = inverseSqrt(next_mean + params.next_epsilon);
  let next_row = workgroup.x * width;
  #if QUANTIZED_NEXT
  storageBarrier();
  for (var group = thread; group < width / 8u; group += WORKGROUP) {
    #for j in 0..8
    let i$j = group * 8u + $j;
    let x$j = y[to_row + i$j] * next_scale * next_weight[i$j];
    #end
    next[next_row / 8u + group] = quantize_group(x0, x1, x2, x3, x4, x5, x6, x7);
  }
  #else
  for (var i = thread; i < width; i += WORKGROUP) {
    next[next_row + i] = y[to_row + i] * next_scale * next_weight[i];
  }
  #end
  #end
  #if SQUARES
  for (var i = thread; i < params.square_quads; i += WORKGROUP) {
    y[params.squares + workgroup.x * params.square_quads + i] = vec4(0.0);
  }
  #end
}
