// The router of a mixture of experts: chooses `top_k` experts for each row by their logits, and computes
// their weights. One workgroup per row. An expert's rank is the number of experts with a higher score,
// or with the same score and a lower id; so nothing has to be sorted. A score that is NaN ranks first:
// its expert is chosen, and its weight shows what is damaged.
// SOFTMAX, SIGMOID: an expert's weight is its probability. Neither: the softmax over the chosen ones.
// BIASED (DeepSeek-V3, section 2.1.2): a bias is added for the choice, but not in the weight. GROUPED:
// only experts of the `groups_used` groups with the greatest sums of their two best scores are chosen.
// The grid has one workgroup for each row of the step; `count` tells later kernels the number of pairs.
struct Params {
  experts: u32,       // at most EXPERTS
  top_k: u32,         // at most TOP_K
  stride: u32,        // columns of logits
  groups: u32,        // at most EXPERTS / 2
  groups_used: u32,
  scale: f32,
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> logits: array<f32>;          // [rows, stride]
@group(0) @binding(2) var<storage, read_write> ids: array<u32>;       // [rows, top_k]
@group(0) @binding(3) var<storage, read_write> weights: array<f32>;   // [rows, top_k]
@group(0) @binding(4) var<storage, read_write> count: array<u32>;     // [1] pairs
#if BIASED
@group(0) @binding(5) var<storage, read> bias: array<f32>;            // [experts]
#end

const LOWEST = -3.402823e38f;
const HIGHEST = 3.402823e38f;
const LEAST_SUM = 6.103515625e-5f;                  // the smallest normal f16

var<workgroup> scores: array<f32, EXPERTS>;         // padded with LOWEST to whole vectors
var<workgroup> chosen: array<u32, TOP_K>;
var<workgroup> chosen_weights: array<f32, TOP_K>;
#if GROUPED
var<workgroup> group_scores: array<f32, EXPERTS / 2>;
var<workgroup> group_is_used: array<u32, EXPERTS / 2>;
#end

fn scores4(at: u32) -> vec4<f32> {
  return vec4(scores[at], scores[at + 1u], scores[at + 2u], scores[at + 3u]);
}

fn rank_of(expert: u32) -> u32 {
  let score = vec4(scores[expert]);
  var ranks = vec4(0u);
  for (var at = 0u; at < params.experts; at += 4u) {
    let others = scores4(at);
    let lower_id = vec4(at, at + 1u, at + 2u, at + 3u) < vec4(expert);
    ranks += vec4<u32>((others > score) | ((others == score) & lower_id));
  }
  return ranks.x + ranks.y + ranks.z + ranks.w;
}

#if GROUPED
fn group_score(group: u32) -> f32 {
  var best = LOWEST;
  var second = LOWEST;
  let size = params.experts / params.groups;
  for (var i = 0u; i < size; i++) {
    let score = scores[group * size + i];
    second = max(second, min(best, score));
    best = max(best, score);
  }
  return best + second;
}

fn group_rank(group: u32) -> u32 {
  let score = group_scores[group];
  var rank = 0u;
  for (var i = 0u; i < params.groups; i++) {
    let other = group_scores[i];
    rank += u32(other > score || (other == score && i < group));
  }
  return rank;
}
#end

// The weight of an expert before weights are normalized. `greatest` is the logit that exponentials
// are relative to, `total` their sum.
fn weight_of(logit: f32, greatest: f32, total: f32) -> f32 {
  #if SIGMOID
  return sigmoid(logit);
  #else
  return exponential(logit - greatest) / total;
  #end
}

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let row = workgroup.x;
  let base = row * params.stride;
  let experts = params.experts;
  let top_k = params.top_k;
  if (row == 0u && thread == 0u) {
    count[0] = workgroups.x * top_k;
  }
  for (var at = thread; at < (experts + 3u) / 4u * 4u; at += WORKGROUP) {
    scores[at] = select(LOWEST, logits[base + at], at < experts);
  }
  workgroupBarrier();

  var greatest = LOWEST;
  var total = 1.0;
  #if SOFTMAX
  var most = vec4(LOWEST);
  for (var at = 0u; at < params.experts; at += 4u) {
    most = max(most, scores4(at));
  }
  greatest = max(max(most.x, most.y), max(most.z, most.w));
  var part = 0.0;
  for (var expert = thread; expert < experts; expert += WORKGROUP) {
    part += exponential(scores[expert] - greatest);
  }
  total = workgroup_sum(part, thread);
  workgroupBarrier();
  #end

  // Without a bias or groups, logits are the scores: they rank as probabilities do, and never round
  // to the same one.
  for (var expert = thread; expert < experts; expert += WORKGROUP) {
    var score = scores[expert];
    #if PROBABLE
    score = weight_of(score, greatest, total);
    #end
    #if BIASED
    score += bias[expert];
    #end
    scores[expert] = select(HIGHEST, score, score < 0.0 || score >= 0.0);
  }
  workgroupBarrier();

  #if GROUPED
  for (var group = thread; group < params.groups; group += WORKGROUP) {
    group_scores[group] = group_score(group);
  }
  workgroupBarrier();
  for (var group = thread; group < params.groups; group += WORKGROUP) {
    group_is_used[group] = u32(group_rank(group) < params.groups_used);
  }
  workgroupBarrier();
  for (var expert = thread; expert < experts; expert += WORKGROUP) {
    if (group_is_used[expert / (experts / params.groups)] == 0u) {
      scores[expert] = LOWEST;
    }
  }
  workgroupBarrier();
  #end

  for (var expert = thread; expert < experts; expert += WORKGROUP) {
    let rank = rank_of(expert);
    if (rank < top_k) {
      chosen[rank] = expert;
    }
  }
  workgroupBarrier();

  #if !PROBABILITIES
  greatest = logits[base + chosen[0]];
  #end
  for (var choice = thread; choice < top_k; choice += WORKGROUP) {
    chosen_weights[choice] = weight_of(logits[base + chosen[choice]], greatest, total);
  }
  workgroupBarrier();

  var divisor = 1.0;
  #if NORMALIZED
  var sum = 0.0;
  for (var choice = 0u; choice < top_k; choice++) {
    sum += chosen_weights[choice];
  }
  divisor = max(sum, LEAST_SUM);
  #end
  for (var choice = thread; choice < top_k; choice += WORKGROUP) {
    let at = row * top_k + choice;
    ids[at] = chosen[choice];
    weights[at] = chosen_weights[choice] / divisor * params.scale;
  }
}
