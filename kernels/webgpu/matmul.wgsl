// y = x W^T for many tokens (prefill on a GPU): tiles of 64 rows by 64 tokens, staged in workgroup
// memory, 4 by 4 outputs in the registers of each of 256 invocations. Bindings, epilogue and SIDES are
// those of linear.wgsl; with two sides a tile has 32 gate rows and the 32 up rows that belong to them.
// Grid: x over token tiles, y (then z) over row tiles.
// A buffer holds a piece of the columns: a group of 32 of int8, half a group of floats. While one of
// two buffers is multiplied the other one is filled, and what comes into it next is being loaded
// already: an invocation fills one buffer, with one row or token. With one buffer (BUFFERS), for which
// less memory is enough, all wait for each other.
// The last token tile may reach past the end of the buffers, and a tile may have idle columns: what
// is read for these has no effect, and nothing is written.
// Compilers clamp every index that is not a constant. So the place within a quarter of a tile is the
// only one in the loop, and stays the same. Neighbouring invocations read neighbouring vectors, which
// lie in different banks.

const WORKGROUP = 256u;
const TILE = 64u;
const QUARTER = TILE / 4u;
const OUTPUTS = TILE / SIDES;     // rows of each side
#if INTEGER
const VECTORS = 2u;               // in a piece of a row
const TURN = BUFFERS;             // groups that a turn of the loop takes
// [buffer, vector, quarter of the tile, place in it]
var<workgroup> w_tile: array<array<array<array<vec4<u32>, QUARTER>, 4>, VECTORS>, BUFFERS>;
var<workgroup> x_tile: array<array<array<array<vec4<u32>, QUARTER>, 4>, VECTORS>, BUFFERS>;
// Scale and minimum of each half; scale, sums of the halves, their sum: [buffer, quarter, place]
var<workgroup> w_scale: array<array<array<vec4<f32>, QUARTER>, 4>, BUFFERS>;
var<workgroup> x_scale: array<array<array<vec4<f32>, QUARTER>, 4>, BUFFERS>;
#else
const VECTORS = 4u;
const TURN = 1u;
const_assert BUFFERS == 2u;
var<workgroup> w_tile: array<array<array<array<vec4<f32>, QUARTER>, 4>, VECTORS>, BUFFERS>;
var<workgroup> x_tile: array<array<array<array<vec4<f32>, QUARTER>, 4>, VECTORS>, BUFFERS>;
#end

// What an invocation has loaded and not stored yet, as it lies in memory.
struct Loaded {
  #for j in 0..4
  vector$j: vec4<u32>,
  #end
}

// Row of w that row `i` of the tile holds.
fn row_of(expert: u32, tile: u32, i: u32) -> u32 {
  return weight_row(expert, i / OUTPUTS, tile * OUTPUTS + i % OUTPUTS);
}

// Loads group `at` of w or x for a buffer; of floats the half that it holds.
fn load(is_w: bool, at: u32, buffer: u32) -> Loaded {
  var loaded: Loaded;
  if (is_w) {
    #if FLOAT_WEIGHTS
    #for j in 0..4
    loaded.vector$j = fetch_floats(8u * at + 4u * buffer + $j);
    #end
    #else
    let packed = fetch_group(at);
    loaded.vector0 = packed.first;
    loaded.vector1 = packed.second;
    loaded.vector2 = packed.third;
    #end
  } else {
    #if INTEGER
    #for j in 0..3
    loaded.vector$j = x[3u * at + $j];
    #end
    #else
    #for j in 0..4
    loaded.vector$j = bitcast<vec4<u32>>(x[8u * at + 4u * buffer + $j]);
    #end
    #end
  }
  return loaded;
}

#for b in 0..BUFFERS
// Stores group `at` into buffer $b, at row or token `i` of the tile. Weights past the end are zeros.
fn store$b(loaded: Loaded, is_w: bool, at: u32, inside: bool, i: u32) {
  let quarter = i / QUARTER;
  let place = i % QUARTER;
  if (is_w) {
    #if FLOAT_WEIGHTS
    #for j in 0..4
    w_tile[$b][$j][quarter][place] = unpack_floats(loaded.vector$j);
    #end
    #else
    let w = unpack_group(PackedGroup(loaded.vector0, loaded.vector1, loaded.vector2), at);
    #if INTEGER
    w_tile[$b][0][quarter][place] = w.low;
    w_tile[$b][1][quarter][place] = w.high;
    w_scale[$b][quarter][place] = select(vec4(0.0), vec4(w.scale, w.minimum), inside);
    #else
    let codes = select(w.low, w.high, $b == 1);
    #for j in 0..4
    w_tile[$b][$j][quarter][place] = w.scale[$b] * vec4<f32>(unpack4xI8(codes[$j])) + w.minimum[$b];
    #end
    #end
    #end
  } else {
    #if INTEGER
    let scales = bitcast<vec4<f32>>(loaded.vector2);
    x_tile[$b][0][quarter][place] = loaded.vector0;
    x_tile[$b][1][quarter][place] = loaded.vector1;
    x_scale[$b][quarter][place] = vec4(scales.xyz, scales.y + scales.z);
    #else
    #for j in 0..4
    x_tile[$b][$j][quarter][place] = bitcast<vec4<f32>>(loaded.vector$j);
    #end
    #end
  }
}
#end

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
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
  let groups = params.groups;
  // What this invocation loads and stores: groups `own`, `own + TURN` and so on for buffer `filled`.
  // With one buffer, half of the invocations have none.
  let is_w = thread < 2u * TILE;
  let filled = thread / TILE % 2u;
  let staged = thread % TILE;
  let staged_token = token_of(workgroup.x, staged);
  let origin = select(input_of(staged_token), row_of(expert, tile, staged), is_w) * groups;
  #if INTEGER
  var own = filled;
  #else
  var own = 0u;
  #end
  let row = thread % QUARTER;
  let column = thread / QUARTER;
  #for r in 0..4
  #for c in 0..4
  var sum$r_$c = 0.0;
  #end
  #end

  var loaded = load(is_w, origin + min(own, groups - 1u), filled);
  #for b in 0..BUFFERS
  if (filled == $b) {
    store$b(loaded, is_w, origin + min(own, groups - 1u), own < groups, staged);
  }
  #end
  own += TURN;
  loaded = load(is_w, origin + min(own, groups - 1u), filled);
  workgroupBarrier();

  for (var group = 0u; group < groups; group += TURN) {
    #for b in 0..BUFFERS
    #if INTEGER
    {
      #for r in 0..4
      let low$r = w_tile[$b][0][$r][row];
      let high$r = w_tile[$b][1][$r][row];
      let scale$r = w_scale[$b][$r][row];
      #end
      #for c in 0..4
      {
        let low = x_tile[$b][0][$c][column];
        let high = x_tile[$b][1][$c][column];
        let scales = x_scale[$b][$c][column];
        #for r in 0..4
        #if UNIFORM_GROUP
        sum$r_$c += (scale$r.x * scales.x) * f32(dot16(dot16(0, low$r, low), high$r, high));
        #else
        sum$r_$c += scales.x *
          (scale$r.x * f32(dot16(0, low$r, low)) + scale$r.y * f32(dot16(0, high$r, high)));
        #end
        #if HAS_MINIMUM
        #if UNIFORM_GROUP
        sum$r_$c += scale$r.z * scales.w;
        #else
        sum$r_$c += scale$r.z * scales.y;
        sum$r_$c += scale$r.w * scales.z;
        #end
        #end
        #end
      }
      #end
    }
    #else
    #for j in 0..4
    {
      #for r in 0..4
      let w$r = w_tile[$b][$j][$r][row];
      #end
      #for c in 0..4
      let x$c = x_tile[$b][$j][$c][column];
      #for r in 0..4
      #for k in 0..4
      sum$r_$c += w$r[$k] * x$c[$k];
      #end
      #end
      #end
    }
    #end
    #end
    workgroupBarrier();
    if (filled == $b) {
      store$b(loaded, is_w, origin + min(own, groups - 1u), own < groups, staged);
      own += TURN;
      loaded = load(is_w, origin + min(own, groups - 1u), filled);
    }
    #if !DOUBLE
    workgroupBarrier();
    #end
    #end
  }

  #for r in 0..4
  #if AFFINE
  let affine$r = affine[row_of(expert, tile, row + 16u * $r)];
  #for c in 0..4
  sum$r_$c = sum$r_$c * affine$r.x + affine$r.y;
  #end
  #end
  #end
  #if PAIRED
  #for c in 0..4
  sum0_$c = gate(sum0_$c, sum2_$c);
  sum1_$c = gate(sum1_$c, sum3_$c);
  #end
  #end
  #if !QUANTIZED_OUTPUT
  let tokens = arrayLength(&y) / params.stride;
  #end
  #for c in 0..4
  let token$c = token_of(workgroup.x, column + 16u * $c);
  #end
  #for r in 0..OUTPUT_ROWS
  {
    let output = tile * OUTPUTS + row + 16u * $r;
    #for c in 0..4
    #if QUANTIZED_OUTPUT
    results[(column + 16u * $c) * OUTPUTS + row + 16u * $r] =
      select(0.0, sum$r_$c, output < params.rows);
    #else
    if (output < params.rows && token$c < tokens) {
      let at = token$c * params.stride + params.first + output;
      #if ACCUMULATE
      y[at] += sum$r_$c;
      #else
      y[at] = sum$r_$c;
      #end
    }
    #end
    #end
  }
  #end

  #if QUANTIZED_OUTPUT
  workgroupBarrier();
  write_groups(workgroup.x, tile, thread);
  #end
}
