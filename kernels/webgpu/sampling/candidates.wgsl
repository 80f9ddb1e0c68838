// The tokens among which the sampler chooses. An entry is (key of the best token - own key, id), so
// that entries in rising order are tokens in falling order of logit, with the lowest id first among
// equals. If they are few, they are copied into workgroup memory.

/** Some entries of one output: `size` of them, in no order. */
struct Entries {
  kind: u32,
  size: u32,
  output: u32,
  best_key: u32,
}
const STRIPS = 0u;
const VOCABULARY = 1u;
const CANDIDATES = 2u;

var<workgroup> candidates: array<vec2<u32>, CAPACITY>;
var<workgroup> candidate_count: atomic<u32>;
var<workgroup> collected: u32;

/** Of strips, the entry is that of the best token, with the strip's index as id. */
fn entry(entries: Entries, at: u32) -> vec2<u32> {
  if (entries.kind == CANDIDATES) {
    return candidates[at];
  }
  if (entries.kind == STRIPS) {
    return vec2(entries.best_key - strips[entries.output * params.strips + at].x, at);
  }
  return vec2(entries.best_key - key_of(logits[entries.output * params.vocabulary + at]), at);
}

fn is_kept(item: vec2<u32>, last: vec2<u32>) -> bool {
  return item.x < last.x || (item.x == last.x && item.y <= last.y);
}

/** Logit minus the best one, at most 0. */
fn relative_logit(distance: u32, best_key: u32) -> f32 {
  return logit_of(best_key - distance) - logit_of(best_key);
}

/** Copies the tokens up to `last` into `candidates`; keeps to the vocabulary if they do not fit. */
fn collect(strips: Entries, last: vec2<u32>, thread: u32) -> Entries {
  var vocabulary = strips;
  vocabulary.kind = VOCABULARY;
  vocabulary.size = params.vocabulary;
  if (thread == 0u) {
    atomicStore(&candidate_count, 0u);
  }
  workgroupBarrier();
  for (var strip = thread; strip < strips.size; strip += WORKGROUP) {
    if (entry(strips, strip).x <= last.x) {
      let first = strip / WORKGROUP * (WORKGROUP * STRIP) + thread;
      let end = min(first + WORKGROUP * STRIP, vocabulary.size);
      for (var token = first; token < end; token += WORKGROUP) {
        let item = entry(vocabulary, token);
        if (is_kept(item, last)) {
          let at = atomicAdd(&candidate_count, 1u);
          if (at >= CAPACITY) {
            break;
          }
          candidates[at] = item;
        }
      }
    }
    if (atomicLoad(&candidate_count) > CAPACITY) {
      break;
    }
  }
  workgroupBarrier();
  if (thread == 0u) {
    collected = atomicLoad(&candidate_count);
  }
  let count = workgroupUniformLoad(&collected);
  if (count > CAPACITY) {
    return vocabulary;
  }
  return Entries(CANDIDATES, count, strips.output, strips.best_key);
}
