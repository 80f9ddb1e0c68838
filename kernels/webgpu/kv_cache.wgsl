// Where a token's keys and values lie in the paged KV cache. A sequence owns blocks of BLOCK tokens,
// listed in its slot's row of the block table; one block is [kvHeads, BLOCK] heads. The elements of
// a head are read four at a time: cached_quads.wgsl.

// Number of the cached head of `position`, which lies in `block`.
fn cached_head(block: u32, kv_head: u32, kv_heads: u32, position: u32) -> u32 {
  return (block * kv_heads + kv_head) * BLOCK + position % BLOCK;
}
