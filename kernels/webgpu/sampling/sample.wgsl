// Chooses a token per output: the best one or, where STOCHASTIC and the temperature is above 0, a
// draw after top_k, the early filters of ops/filters, top_p (at temperature 1), the other filters and
// temperature, in this order. top_k and top_p keep a beginning of the ordered entries of candidates.wgsl,
// and move `last`, the last one kept; filters, made by filters.ts, may drop any token of these. All
// sums are of integers, and nothing else depends on the order in which invocations run, so that a draw
// can be repeated bit by bit. Where a logit is NaN or +inf, or no token is allowed, NONE is sampled; the
// slot then gets token 0, for the steps that run before the host has read this.
// One workgroup of 256 per output.
struct Params {
  vocabulary: u32,
  strips: u32,       // strips of an output
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> strips: array<vec2<u32>>;      // [outputs, strips] key, id
@group(0) @binding(2) var<storage, read> outputs: array<u32>;           // [outputs] row
@group(0) @binding(3) var<storage, read> rows: array<StepRow>;          // [rows]
@group(0) @binding(4) var<storage, read_write> sampled: array<u32>;     // [outputs]
@group(0) @binding(5) var<storage, read_write> slots: array<SlotToken>; // [slots]
#if STOCHASTIC
@group(0) @binding(6) var<storage, read> logits: array<u32>;            // [outputs, vocabulary] f32
@group(0) @binding(7) var<storage, read> sampling: array<Sampling>;     // [slots]
#end

var<workgroup> best_key: atomic<u32>;
var<workgroup> best_id: atomic<u32>;
var<workgroup> winner: vec2<u32>;

/** The (key, id) of the greatest key, of the lowest id among equals. */
fn workgroup_best(mine: vec2<u32>, thread: u32) -> vec2<u32> {
  if (thread == 0u) {
    atomicStore(&best_key, 0u);
    atomicStore(&best_id, NONE);
  }
  workgroupBarrier();
  atomicMax(&best_key, mine.x);
  workgroupBarrier();
  if (mine.x == atomicLoad(&best_key)) {
    atomicMin(&best_id, mine.y);
  }
  workgroupBarrier();
  if (thread == 0u) {
    winner = vec2(atomicLoad(&best_key), atomicLoad(&best_id));
  }
  return workgroupUniformLoad(&winner);
}

#if STOCHASTIC
/** Draws one of the tokens that all filters keep. At least one token is allowed. */
fn draw(options: Sampling, best: vec2<u32>, output: u32, position: u32, thread: u32) -> u32 {
  let strips = Entries(STRIPS, params.strips, output, best.x);
  let all = vec2(best.x - DISALLOWED - 1u, NONE);

  // Round 0 finds a bound: the best tokens of the k best strips are k tokens, so no token below the
  // least of them is in the top k. With fewer strips than k there is no bound, and all tokens are
  // looked at. Round 1 is top_k, round 2 top_p. A loop is compiled three times as fast as three copies.
  var entries = strips;
  var last = all;
  for (var round = 0u; round < 3u; round++) {
    if (round == 2u) {
      prepare_early_filters(options, entries, last, position, thread);
    }
    if (select(options.top_k > 0u, options.top_p < 1.0, round == 2u)) {
      let count = select(options.top_k, 0u, round == 2u);
      last = select_first(options, entries, last, count, thread);
    }
    if (round == 0u) {
      entries = collect(strips, vec2(last.x, NONE), thread);
      last = all;
    }
  }
  prepare_late_filters(options, entries, last, position, thread);
  let temperature = filtered_temperature(options);

  // Gumbel-max: the greatest of logit / temperature + gumbel is a draw from the softmax.
  var chosen = best.y;
  var score = gumbel_of(chosen, position, options.seed);
  if (!filters_keep(options, 0.0)) {
    chosen = NONE;
    score = -0x1p127;
  }
  for (var at = thread; at < entries.size; at += WORKGROUP) {
    let item = entry(entries, at);
    let relative = relative_logit(item.x, best.x);
    let scaled = relative / temperature;
    if (is_kept(item, last) && scaled + MAX_GUMBEL >= score && filters_keep(options, relative)) {
      let other = scaled + gumbel_of(item.y, position, options.seed);
      if (other > score || (other == score && item.y < chosen)) {
        score = other;
        chosen = item.y;
      }
    }
  }
  let drawn = workgroup_best(vec2(key_of(bitcast<u32>(score)), chosen), thread).y;
  // By rounding alone, filters may drop every token.
  return select(drawn, best.y, drawn == NONE);
}

/** The variate of a token: of the seed, the position and the id alone. */
fn gumbel_of(id: u32, position: u32, seed: vec2<u32>) -> f32 {
  return gumbel(philox(vec4(position, id / 4u, 0u, 0u), seed)[id % 4u]);
}
#end

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let output = workgroup.x;
  let row = rows[outputs[output]];
  var mine = vec2(0u, NONE);
  for (var at = thread; at < params.strips; at += WORKGROUP) {
    let other = strips[output * params.strips + at];
    if (other.x > mine.x || (other.x == mine.x && other.y < mine.y)) {
      mine = other;
    }
  }
  let greatest = workgroup_best(mine, thread);
  let has_choice = greatest.x > DISALLOWED && greatest.x != NOT_FINITE;
  var token = greatest.y;
  #if STOCHASTIC
  let options = sampling[row.slot];
  if (options.temperature > 0.0 && has_choice) {
    token = draw(options, greatest, output, row.position, thread);
  }
  #end
  if (thread == 0u) {
    sampled[output] = select(NONE, token, has_choice);
    var last: SlotToken;
    last.token = select(0u, token, has_choice);
    last.position = row.position + 1u;
    slots[row.slot] = last;
  }
}
