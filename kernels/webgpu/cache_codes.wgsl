// Keys and values as codes of the paged KV cache, which kernels/ops/cache_codes.ts defines: how a group
// of a head becomes codes of 8 or 4 bits in the bindings `keys` or `values`. A group's scale is one
// half of a word, of which another workgroup may write the other half: hence atomics.
const GREATEST = 3.4e38;
const NAN_BITS = 0x7e00u;

fn store_codes(is_key: bool, at: u32, word: u32) {
  #if CODED_KEYS
  if (is_key) {
    atomicStore(&keys[at], word);
  }
  #end
  #if CODED_VALUES
  if (!is_key) {
    atomicStore(&values[at], word);
  }
  #end
}

// Stores a scale, f16, as number `place` of those that begin at word `at`.
fn store_scale(is_key: bool, at: u32, place: u32, bits: u32) {
  let word = at + place / 2u;
  let shift = place % 2u * 16u;
  #if CODED_KEYS
  if (is_key) {
    atomicAnd(&keys[word], 0xffff0000u >> shift);
    atomicOr(&keys[word], bits << shift);
  }
  #end
  #if CODED_VALUES
  if (!is_key) {
    atomicAnd(&values[word], 0xffff0000u >> shift);
    atomicOr(&values[word], bits << shift);
  }
  #end
}

fn four_bytes(codes: vec4<f32>) -> u32 {
  let bytes = (bitcast<vec4<u32>>(vec4<i32>(codes)) & vec4(0xffu)) << vec4(0u, 8u, 16u, 24u);
  return bytes.x | bytes.y | bytes.z | bytes.w;
}

// Four codes of 8 bits.
fn q8_codes(values: vec4<f32>) -> u32 {
  return four_bytes(clamp(round(values), vec4(-127.0), vec4(127.0)));
}

// Eight codes of 4 bits, the first four in the low halves of bytes.
fn q4_codes(first: vec4<f32>, last: vec4<f32>) -> u32 {
  let low = clamp(round(first), vec4(-8.0), vec4(7.0)) + 8.0;
  let high = clamp(round(last), vec4(-8.0), vec4(7.0)) + 8.0;
  return four_bytes(low + 16.0 * high);
}

// Stores a group of a head of `dim` elements. `cached` is the head's number as cached_head() of
// kv_cache.wgsl has it. If the head's last group is shorter, `x` repeats some of its elements behind it.
fn store_group(is_key: bool, bits: u32, dim: u32, cached: u32, group: u32, x: array<vec4<f32>, 8>) {
  let groups = (dim + 31u) / 32u;
  let cell_words = dim * bits / 32u;
  let block = cached / BLOCK * (BLOCK * cell_words + BLOCK * groups / 2u);
  let cell = cached % BLOCK;
  var most = vec4(0.0);
  var least = vec4(0.0);
  var are_numbers = vec4(true);
  #for i in 0..8
  most = max(most, x[$i]);
  least = min(least, x[$i]);
  are_numbers &= abs(x[$i]) <= vec4(GREATEST);
  #end
  let top = max(max(most.x, most.y), max(most.z, most.w));
  let bottom = min(min(least.x, least.y), min(least.z, least.w));
  let is_number = all(are_numbers);
  let exact = select(
    max(top, -bottom) / 127.0,
    select(bottom, top, top > -bottom) / -8.0,
    bits == 4u,
  );
  let scale_bits = select(NAN_BITS, pack2x16float(vec2(exact, 0.0)) & 0xffffu, is_number);
  let scale = unpack2x16float(scale_bits).x;
  let factor = select(0.0, 1.0 / scale, scale != 0.0 && is_number);
  store_scale(is_key, block + BLOCK * cell_words, cell * groups + group, scale_bits);
  // A group has a word for each bit of a code, unless it is shorter.
  let to = block + cell * cell_words + group * bits;
  let words = cell_words - group * bits;
  if (bits == 4u) {
    #for j in 0..4
    if ($j < words) {
      store_codes(is_key, to + $j, q4_codes(factor * x[2 * $j], factor * x[2 * $j + 1]));
    }
    #end
  } else {
    #for j in 0..8
    if ($j < words) {
      store_codes(is_key, to + $j, q8_codes(factor * x[$j]));
    }
    #end
  }
}
