// The sum of one value over the workgroup, given to every invocation. Call in uniform control flow.
// SUBGROUPS: the workgroup is exactly one subgroup. Otherwise a tree in workgroup memory.
#if !SUBGROUPS
const_assert 0u == (WORKGROUP & (WORKGROUP - 1u));  // naga takes no parenthesis first
var<workgroup> reduce_scratch: array<f32, WORKGROUP>;
#end

fn workgroup_sum(value: f32, thread: u32) -> f32 {
  #if SUBGROUPS
  return subgroupAdd(value);
  #else
  reduce_scratch[thread] = value;
  workgroupBarrier();
  for (var width = WORKGROUP / 2u; width > 0u; width /= 2u) {
    if (thread < width) {
      reduce_scratch[thread] += reduce_scratch[thread + width];
    }
    workgroupBarrier();
  }
  let total = reduce_scratch[0];
  workgroupBarrier();
  return total;
  #end
}
