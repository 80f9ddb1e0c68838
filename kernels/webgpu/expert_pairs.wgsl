// Groups the pairs of rows and experts by expert: tiles of an expert and up to `cols` of its pairs,
// so that a product reads the expert's weights once per tile. A tile is the expert and then `cols`
// pairs in rising order, NONE where it has fewer; the expert of an empty tile is NONE.
// One workgroup per expert. Expert e begins at tile n / cols + e, where n counts the pairs of all lower
// experts. These cannot need more tiles than that, however the pairs are spread over them, so no
// workgroup waits for another. Each invocation has a strip of the pairs, so that the order of pairs
// does not depend on which invocation is first.
struct Params {
  cols: u32,
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> count: array<u32>;         // [1] pairs
@group(0) @binding(2) var<storage, read> ids: array<u32>;           // [pairs] experts
@group(0) @binding(3) var<storage, read_write> pair_tiles: array<u32>;    // [tiles, 1 + cols]

const NONE = 0xffffffffu;

// For each strip: the number of pairs of this expert, and of lower ones.
var<workgroup> own: array<u32, WORKGROUP>;
var<workgroup> lower: array<u32, WORKGROUP>;

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let expert = workgroup.x;
  let pairs = count[0];
  let strip = (pairs + WORKGROUP - 1u) / WORKGROUP;
  let first = min(thread * strip, pairs);
  let end = min(first + strip, pairs);

  var own_pairs = 0u;
  var lower_pairs = 0u;
  for (var pair = first; pair < end; pair++) {
    own_pairs += u32(ids[pair] == expert);
    lower_pairs += u32(ids[pair] < expert);
  }
  own[thread] = own_pairs;
  lower[thread] = lower_pairs;
  workgroupBarrier();

  var rank = 0u;           // of the strip's first pair of this expert, among all of them
  var all_own = 0u;
  var all_lower = 0u;
  for (var i = 0u; i < WORKGROUP; i++) {
    rank += select(0u, own[i], i < thread);
    all_own += own[i];
    all_lower += lower[i];
  }

  let cols = params.cols;
  let first_tile = all_lower / cols + expert;
  let end_tile = (all_lower + all_own) / cols + expert + 1u;
  for (var pair = first; pair < end; pair++) {
    if (ids[pair] == expert) {
      pair_tiles[(first_tile + rank / cols) * (1u + cols) + 1u + rank % cols] = pair;
      rank++;
    }
  }
  for (var i = all_own + thread; i < (end_tile - first_tile) * cols; i += WORKGROUP) {
    pair_tiles[(first_tile + i / cols) * (1u + cols) + 1u + i % cols] = NONE;
  }
  for (var tile = first_tile + thread; tile < end_tile; tile += WORKGROUP) {
    let is_empty = (tile - first_tile) * cols >= all_own;
    pair_tiles[tile * (1u + cols)] = select(expert, NONE, is_empty);
  }
}
