// TQ1_0: ternary digits, five in a byte, with an offset of 1; one scale per 256 weights. A byte is a
// fraction of 256 to the base 3: times 3 to the power of n, digit n follows from its low eight bits.
// w_quants: 13 words per super-block: eight whose digits 0 to 4 are groups 0 to 4; four whose digits
// are the ten halves of groups 5, 6 and 7 in order, less the last; one with four digits for that.
// w_scales: a half per super-block.
fn load_group(group: u32) -> Group {
  let part = group & 7u;
  let block = (group >> 3u) * 13u;
  let whole = part < 5u;
  let first = block + select(8u, 0u, whole);
  let second = first + select(0u, 4u, whole);
  let digit = select(2u * part - 10u, part, whole);
  let low = tq1_0_words(first);
  var high = tq1_0_words(second);
  var powers = vec4(power_of_3(select(digit + 1u, digit, whole)));
  if (part == 7u) {
    high = vec4(w_quants[block + 12u]);
    powers = vec4(1u, 3u, 9u, 27u);
  }
  return Group(
    tq1_0_codes(low, vec4(power_of_3(digit))),
    tq1_0_codes(high, powers),
    vec2(half_of(w_scales[group >> 4u], group >> 3u)),
    vec2(0.0),
  );
}

fn tq1_0_words(at: u32) -> vec4<u32> {
  return vec4(w_quants[at], w_quants[at + 1u], w_quants[at + 2u], w_quants[at + 3u]);
}

// For exponents up to 4.
fn power_of_3(exponent: u32) -> u32 {
  return select((0x1b090301u >> (8u * exponent)) & 0xffu, 81u, exponent > 3u);
}

// Even and odd bytes apart: a product takes up to 16 bits.
fn tq1_0_codes(words: vec4<u32>, powers: vec4<u32>) -> vec4<u32> {
  let even = ((words & vec4(0x00ff00ffu)) * powers) & vec4(0x00ff00ffu);
  let odd = (((words >> vec4(8u)) & vec4(0x00ff00ffu)) * powers) & vec4(0x00ff00ffu);
  return minus_each(
    (((even * 3u) >> vec4(8u)) & vec4(0x00030003u)) | ((odd * 3u) & vec4(0x03000300u)),
    1u,
  );
}
