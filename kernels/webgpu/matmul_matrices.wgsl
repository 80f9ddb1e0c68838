// y = x W^T for many tokens on GPUs that multiply small matrices in one instruction: subgroup
// matrices, an experimental extension of WGSL that Dawn has. The tiles of 64 rows by 64 tokens, the
// bindings and the grid are those of matmul.wgsl. Each invocation stages a row of w or of x, one group
// of 32 columns at a time, and loads the next group while the staged ones are multiplied.
// ACTIVE subgroups each make ROW_BLOCKS by TOKEN_BLOCKS matrices of M rows by N tokens. A device may
// run the workgroup in more, smaller subgroups than that; the surplus ones only stage.
// HALVES: weights and int8 activations are rounded to f16; otherwise both are f32. Sums are f32.

const WORKGROUP = 128u;
const TILE = 64u;
const OUTPUTS = TILE / SIDES;     // rows of each side
#if HALVES
alias Element = f16;
const STRIDE = 40u;               // staged elements from row to row, so that banks do not conflict
// The largest f16 is 65504, and below 6e-5 precision decreases. Activations may exceed the former,
// weights may be below the latter. These factors move both into the range, and cancel out.
const WEIGHT_FACTOR = 16.0;
const INPUT_FACTOR = 0.0625;
#else
alias Element = f32;
const STRIDE = 32u;               // the results leave no memory for more
#end
alias Left = subgroup_matrix_left<Element, K, M>;
alias Right = subgroup_matrix_right<Element, N, K>;
alias Sums = subgroup_matrix_result<f32, N, M>;

var<workgroup> staged: array<Element, 2u * TILE * STRIDE>;   // [rows of w, then tokens; 32]
#if !QUANTIZED_OUTPUT
var<workgroup> results: array<f32, COLS * OUTPUTS>;     // [tokens, outputs]
#end
#if PAIRED
var<workgroup> up_results: array<f32, COLS * OUTPUTS>;
#end

// Row of w that row `i` of the tile holds.
fn row_of(expert: u32, tile: u32, i: u32) -> u32 {
  return weight_row(expert, i / OUTPUTS, tile * OUTPUTS + i % OUTPUTS);
}

// Stages four columns of a row: the quad-th of its group.
fn stage(row: u32, quad: u32, values: vec4<f32>) {
  let at = row * STRIDE + 4u * quad;
  let rounded = vec4<Element>(values);
  staged[at] = rounded.x;
  staged[at + 1u] = rounded.y;
  staged[at + 2u] = rounded.z;
  staged[at + 3u] = rounded.w;
}

#if INTEGER
// A group of row `row` of w, or of x.
fn load(row: u32, group: u32, of_x: bool) -> Group {
  let at = row * params.groups + group;
  if (of_x) {
    let scale = bitcast<f32>(x[3u * at + 2u].x);
    return Group(x[3u * at], x[3u * at + 1u], vec2(INPUT_FACTOR * scale), vec2(0.0));
  }
  let w = load_group(at);
  return Group(w.low, w.high, WEIGHT_FACTOR * w.scale, WEIGHT_FACTOR * w.minimum);
}
#else
struct Loaded {
  #for j in 0..8
  v$j: vec4<f32>,
  #end
}

fn load(row: u32, group: u32, of_x: bool) -> Loaded {
  let at = row * params.groups + group;
  var loaded: Loaded;
  if (of_x) {
    #for j in 0..8
    loaded.v$j = x[8u * at + $j];
    #end
    return loaded;
  }
  #if FLOAT_WEIGHTS
  #for j in 0..8
  loaded.v$j = load_floats(8u * at + $j);
  #end
  #else
  let w = load_group(at);
  #for j in 0..4
  loaded.v$j = w.scale.x * vec4<f32>(unpack4xI8(w.low[$j])) + w.minimum.x;
  #end
  #for j in 4..8
  loaded.v$j = w.scale.y * vec4<f32>(unpack4xI8(w.high[$j - 4u])) + w.minimum.y;
  #end
  #end
  return loaded;
}
#end

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
  @builtin(subgroup_id) subgroup: u32,
) {
  let tile = workgroup.y + workgroup.z * workgroups.y;
  #if GATHER
  let expert = expert_of(workgroup.x);
  if (expert >= params.experts) {
    return;
  }
  #else
  let expert = 0u;
  #end
  let of_x = thread >= TILE;
  let row = select(
    row_of(expert, tile, thread % TILE), input_of(token_of(workgroup.x, thread % TILE)), of_x);
  // The place of the outputs of this subgroup in the tile.
  let first_row = subgroup % SUBGROUP_ROWS * ROW_BLOCKS * M;
  let first_token = subgroup / SUBGROUP_ROWS * TOKEN_BLOCKS * N;
  var sums: array<Sums, ROW_BLOCKS * TOKEN_BLOCKS>;

  var next = load(row, 0u, of_x);
  for (var group = 0u; group < params.groups; group++) {
    #if INTEGER
    #for j in 0..4
    stage(thread, $j, next.scale.x * vec4<f32>(unpack4xI8(next.low[$j])) + next.minimum.x);
    stage(thread, $j + 4u, next.scale.y * vec4<f32>(unpack4xI8(next.high[$j])) + next.minimum.y);
    #end
    #else
    #for j in 0..8
    stage(thread, $j, next.v$j);
    #end
    #end
    workgroupBarrier();
    next = load(row, min(group + 1u, params.groups - 1u), of_x);
    if (subgroup < ACTIVE) {
      for (var k = 0u; k < 32u; k += K) {
        var left: array<Left, ROW_BLOCKS>;
        for (var r = 0u; r < ROW_BLOCKS; r++) {
          left[r] = subgroupMatrixLoad<Left, row_major>(
            &staged, (first_row + r * M) * STRIDE + k, STRIDE);
        }
        for (var c = 0u; c < TOKEN_BLOCKS; c++) {
          let right = subgroupMatrixLoad<Right, col_major>(
            &staged, (TILE + first_token + c * N) * STRIDE + k, STRIDE);
          for (var r = 0u; r < ROW_BLOCKS; r++) {
            let i = c * ROW_BLOCKS + r;
            sums[i] = subgroupMatrixMultiplyAccumulate(left[r], right, sums[i]);
          }
        }
      }
    }
    workgroupBarrier();
  }

  if (subgroup < ACTIVE) {
    for (var i = 0u; i < ROW_BLOCKS * TOKEN_BLOCKS; i++) {
      let row = first_row + i % ROW_BLOCKS * M;
      let at = (first_token + i / ROW_BLOCKS * N) * OUTPUTS + row % OUTPUTS;
      #if PAIRED
      if (row >= OUTPUTS) {
        subgroupMatrixStore<col_major>(&up_results, at, sums[i], OUTPUTS);
      } else {
        subgroupMatrixStore<col_major>(&results, at, sums[i], OUTPUTS);
      }
      #else
      subgroupMatrixStore<col_major>(&results, at, sums[i], OUTPUTS);
      #end
    }
  }
  workgroupBarrier();
  for (var i = thread; i < COLS * OUTPUTS; i += WORKGROUP) {
    let in_tile = i % OUTPUTS;
    let output = tile * OUTPUTS + in_tile;
    let token = token_of(workgroup.x, i / OUTPUTS);
    var value = results[i];
    #if AFFINE
    let of_row = affine[row_of(expert, tile, in_tile)];
    value = value * of_row.x + of_row.y;
    #end
    #if PAIRED
    var up = up_results[i];
    #if AFFINE
    let of_up_row = affine[row_of(expert, tile, OUTPUTS + in_tile)];
    up = up * of_up_row.x + of_up_row.y;
    #end
    value = gate(value, up);
    #end
    #if QUANTIZED_OUTPUT
    results[i] = select(0.0, value, output < params.rows);
    #else
    if (output < params.rows && token < arrayLength(&y) / params.stride) {
      let at = token * params.stride + params.first + output;
      #if ACCUMULATE
      y[at] += value;
      #else
      y[at] = value;
      #end
    }
    #end
  }
  #if QUANTIZED_OUTPUT
  workgroupBarrier();
  write_groups(workgroup.x, tile, thread);
  #end
}
