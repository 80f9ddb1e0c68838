// How attention reads keys and values: a load gets EACH quads of elements as the cache holds them, and
// a second function turns them into floats, so that several loads can be under way. Floats lie head by
// head. The codes of a block of a head lie together, followed by their scales, pairs of f16
// (kernels/ops/kv_cache.ts).
// Eight codes of four bits are a word, the first four in the low halves of its bytes.
#if CODED_KEYS
alias CachedKeys = u32;        // an element of the binding
alias PackedKey = vec2<u32>;   // what is loaded: here codes, and their scale in the low half
#else
#if HALF_KEYS
#if WIDE
alias CachedKeys = vec4<u32>;
#else
alias CachedKeys = vec2<u32>;
#end
#else
alias CachedKeys = vec4<f32>;
#end
alias PackedKey = CachedKeys;
#end
#if SHARED_VALUES
alias PackedValue = PackedKey;
#else
#if CODED_VALUES
alias CachedValues = u32;
alias PackedValue = vec2<u32>;
#else
#if HALF_VALUES
#if WIDE
alias CachedValues = vec4<u32>;
#else
alias CachedValues = vec2<u32>;
#end
#else
alias CachedValues = vec4<f32>;
#end
alias PackedValue = CachedValues;
#end
#end

fn half_quad(halves: vec2<u32>) -> vec4<f32> {
  return vec4(unpack2x16float(halves.x), unpack2x16float(halves.y));
}

fn signed_bytes(word: u32) -> vec4<f32> {
  let shifted = vec4<i32>(bitcast<i32>(word)) << vec4(24u, 16u, 8u, 0u);
  return vec4<f32>(shifted >> vec4(24u));
}

fn q8_quad(packed: vec2<u32>) -> vec4<f32> {
  return signed_bytes(packed.x) * unpack2x16float(packed.y).x;
}

fn q4_quad(packed: vec2<u32>) -> vec4<f32> {
  return (signed_bytes(packed.x & 0x0f0f0f0fu) - 8.0) * unpack2x16float(packed.y).x;
}

// Where a key begins, for load_key(): `head` is its number as cached_head() of kv_cache.wgsl has it.
fn key_start(head: u32) -> u32 {
  #if CODED_KEYS
  return head;
  #else
  return head * KEY_LOADS;
  #end
}

fn load_key(start: u32, load: u32) -> PackedKey {
  #if CODED_KEYS
  let block = start / BLOCK * KEY_BLOCK_WORDS;
  let cell = start % BLOCK;
  let scale = cell * KEY_GROUPS + load / 8u;
  let scale_bits = keys[block + KEY_CODE_WORDS + scale / 2u] >> (scale % 2u * 16u);
  let codes = block + cell * (KEY_CODE_WORDS / BLOCK);
  #if Q4_KEYS
  return vec2(keys[codes + load / 2u] >> (load % 2u * 4u), scale_bits);
  #else
  return vec2(keys[codes + load], scale_bits);
  #end
  #else
  return keys[start + load];
  #end
}

fn key_quad0(packed: PackedKey) -> vec4<f32> {
  #if Q4_KEYS
  return q4_quad(packed);
  #end
  #if Q8_KEYS
  return q8_quad(packed);
  #end
  #if HALF_KEYS
  return half_quad(packed.xy);
  #end
  #if FLOAT_KEYS
  return packed;
  #end
}

// The functions for values, in the same order.
fn value_start(head: u32) -> u32 {
  #if SHARED_VALUES
  return key_start(head);
  #else
  #if CODED_VALUES
  return head;
  #else
  return head * VALUE_LOADS;
  #end
  #end
}

fn load_value(start: u32, load: u32) -> PackedValue {
  #if SHARED_VALUES
  return load_key(start, load);
  #else
  #if CODED_VALUES
  let block = start / BLOCK * VALUE_BLOCK_WORDS;
  let cell = start % BLOCK;
  let scale = cell * VALUE_GROUPS + load / 8u;
  let scale_bits = values[block + VALUE_CODE_WORDS + scale / 2u] >> (scale % 2u * 16u);
  let codes = block + cell * (VALUE_CODE_WORDS / BLOCK);
  #if Q4_VALUES
  return vec2(values[codes + load / 2u] >> (load % 2u * 4u), scale_bits);
  #else
  return vec2(values[codes + load], scale_bits);
  #end
  #else
  return values[start + load];
  #end
  #end
}

fn value_quad0(packed: PackedValue) -> vec4<f32> {
  #if SHARED_VALUES
  return key_quad0(packed);
  #else
  #if Q4_VALUES
  return q4_quad(packed);
  #end
  #if Q8_VALUES
  return q8_quad(packed);
  #end
  #if HALF_VALUES
  return half_quad(packed.xy);
  #end
  #if FLOAT_VALUES
  return packed;
  #end
  #end
}

#if WIDE
fn key_quad1(packed: PackedKey) -> vec4<f32> {
  return half_quad(packed.zw);
}

fn value_quad1(packed: PackedValue) -> vec4<f32> {
  return half_quad(packed.zw);
}
#end
