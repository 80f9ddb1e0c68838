// Writes the keys or values of a step's rows to a paged KV cache with quantized types, whose codes
// kernels/ops/cache_codes.ts defines. One invocation writes a group of elements of a head. The group's
// scale is one half of a word, of which another invocation may write the other half: hence atomics.
struct Params {
  kv_heads: u32,
  stride: u32,      // floats in a row of qkv
  first: u32,       // column of the first head
  max_blocks: u32,  // blocks per row of the table
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> rows: array<StepRow>;               // [rows]
@group(0) @binding(2) var<storage, read> qkv: array<f32>;                    // [rows, stride]
@group(0) @binding(3) var<storage, read> table: array<u32>;                  // [slots, max_blocks]
@group(0) @binding(4) var<storage, read_write> cells: array<atomic<u32>>;    // as LayerCache has them

const GROUP = 32u;
const GREATEST = 3.4e38;
const NAN_BITS = 0x7e00u;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let head = id.x / GROUPS;
  let group = id.x % GROUPS;
  if (head >= params.kv_heads) {
    return;
  }
  let entry = rows[id.y];
  let cell = entry.position % BLOCK;
  let block = (table[entry.slot * params.max_blocks + entry.position / BLOCK] * params.kv_heads + head) *
    BLOCK_WORDS;
  let codes = block + cell * (CODE_WORDS / BLOCK);
  let source = id.y * params.stride + params.first + head * DIM + group * GROUP;
  let count = min(GROUP, DIM - group * GROUP);
  #if HALF
  for (var i = 0u; i < count; i += 2u) {
    let pair = pack2x16float(vec2(qkv[source + i], qkv[source + i + 1u]));
    atomicStore(&cells[codes + (group * GROUP + i) / 2u], pair);
  }
  #end
  #if FLOAT
  for (var i = 0u; i < count; i++) {
    atomicStore(&cells[codes + group * GROUP + i], bitcast<u32>(qkv[source + i]));
  }
  #end
  #if CODED
  var most = 0.0;
  var least = 0.0;
  var is_number = true;
  for (var i = 0u; i < count; i++) {
    let value = qkv[source + i];
    is_number = is_number && abs(value) <= GREATEST;
    most = max(most, value);
    least = min(least, value);
  }
  #if Q4
  let exact = select(least, most, most > -least) / -8.0;
  #else
  let exact = max(most, -least) / 127.0;
  #end
  let bits = select(NAN_BITS, pack2x16float(vec2(exact, 0.0)) & 0xffffu, is_number);
  let scale = unpack2x16float(bits).x;
  let factor = select(0.0, 1.0 / scale, scale != 0.0 && is_number);
  let place = cell * GROUPS + group;
  let shift = place % 2u * 16u;
  let at = block + CODE_WORDS + place / 2u;
  atomicAnd(&cells[at], 0xffff0000u >> shift);
  atomicOr(&cells[at], bits << shift);
  #if Q4
  for (var i = 0u; i < count; i += 8u) {
    var word = 0u;
    for (var j = 0u; j < 8u; j++) {
      let code = u32(clamp(i32(round(qkv[source + i + j] * factor)), -8, 7) + 8);
      word |= code << (j % 4u * 8u + j / 4u * 4u);
    }
    atomicStore(&cells[codes + (group * GROUP + i) / 8u], word);
  }
  #else
  for (var i = 0u; i < count; i += 4u) {
    var word = 0u;
    for (var j = 0u; j < 4u; j++) {
      let code = clamp(i32(round(qkv[source + i + j] * factor)), -127, 127);
      word |= (bitcast<u32>(code) & 0xffu) << (j * 8u);
    }
    atomicStore(&cells[codes + (group * GROUP + i) / 4u], word);
  }
  #end
  #end
}
