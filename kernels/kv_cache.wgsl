// Where a token's keys and values lie in the paged KV cache. A sequence owns blocks of BLOCK tokens,
// listed in its slot's row of the block table; one block is [kvHeads, BLOCK, HEAD_DIM].
// Elements are f32, or pairs of f16 packed in u32 (HALF_CACHE), read four at a time.
fn cache_index(block: u32, kv_head: u32, kv_heads: u32, position: u32) -> u32 {
  return ((block * kv_heads + kv_head) * BLOCK + position % BLOCK) * (HEAD_DIM / 4u);
}
