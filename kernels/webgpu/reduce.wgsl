// The sum of one value over the workgroup, given to every invocation. Call in uniform control flow.
// SUBGROUPS: the workgroup is exactly one subgroup. Otherwise SHUFFLED neighbours, which are of one
// subgroup, add up their values by shuffles, and the PARTS that are left are added in workgroup memory,
// in two stages if they are many.
#if !SUBGROUPS
const PARTS = WORKGROUP / SHUFFLED;
const_assert WORKGROUP % SHUFFLED == 0u && PARTS == FIRST_STAGE * LAST_STAGE;
var<workgroup> reduce_scratch: array<f32, PARTS>;
#end

fn workgroup_sum(value: f32, thread: u32) -> f32 {
  #if SUBGROUPS
  return subgroupAdd(value);
  #else
  var sum = value;
  #if SHUFFLES
  #for k in 0..SHUFFLE_STEPS
  sum += subgroupShuffleXor(sum, 1u << u32($k));
  #end
  #end
  if (thread % SHUFFLED == 0u) {
    reduce_scratch[thread / SHUFFLED] = sum;
  }
  workgroupBarrier();
  #if TWO_STAGES
  var share = 0.0;
  let is_adding = thread < PARTS / FIRST_STAGE;
  if (is_adding) {
    #for j in 0..FIRST_STAGE
    share += reduce_scratch[thread + $j * (PARTS / FIRST_STAGE)];
    #end
  }
  workgroupBarrier();
  if (is_adding) {
    reduce_scratch[thread] = share;
  }
  workgroupBarrier();
  #end
  var total = 0.0;
  #for j in 0..LAST_STAGE
  total += reduce_scratch[$j];
  #end
  workgroupBarrier();
  return total;
  #end
}
