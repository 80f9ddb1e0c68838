// TQ1_0: ternary digits, five in a byte, with an offset of 1; one scale per 256 weights. A byte divided
// by 256 is a fraction in base 3. Digit n is floor(3 * f / 256), where f is the low eight bits of the
// byte times 3^n.
// w_quants: 13 words per super-block: eight whose digits 0 to 4 are groups 0 to 4; four whose digits
// are the halves of groups 5, 6 and 7 in order, except for the last; one with four digits for that.
// w_scales: a half per super-block.
fn fetch_group(group: u32) -> PackedGroup {
  let part = group & 7u;
  let block = (group >> 3u) * 13u;
  let whole = part < 5u;
  let first = block + select(8u, 0u, whole);
  let second = first + select(0u, 4u, whole);
  return PackedGroup(
    tq1_0_words(first),
    tq1_0_words(second),
    vec4(w_quants[block + 12u], w_scales[group >> 4u], vec2(0u)),
  );
}

fn unpack_group(packed: PackedGroup, group: u32) -> Group {
  let part = group & 7u;
  let whole = part < 5u;
  let digit = select(2u * part - 10u, part, whole);
  var high = packed.second;
  var powers = vec4(power_of_3(select(digit + 1u, digit, whole)));
  if (part == 7u) {
    high = vec4(packed.third.x);
    powers = vec4(1u, 3u, 9u, 27u);
  }
  return Group(
    tq1_0_codes(packed.first, vec4(power_of_3(digit))),
    tq1_0_codes(high, powers),
    vec2(half_of(packed.third.y, group >> 3u)),
    vec2(0.0),
  );
}

fn tq1_0_words(at: u32) -> vec4<u32> {
  return vec4(w_quants[at], w_quants[at + 1u], w_quants[at + 2u], w_quants[at + 3u]);
}

fn power_of_3(exponent: u32) -> u32 {
  return select((0x1b090301u >> (8u * exponent)) & 0xffu, 81u, exponent > 3u);
}

// Even and odd bytes separately, because a product takes up to 16 bits.
fn tq1_0_codes(words: vec4<u32>, powers: vec4<u32>) -> vec4<u32> {
  let even = ((words & vec4(0x00ff00ffu)) * powers) & vec4(0x00ff00ffu);
  let odd = (((words >> vec4(8u)) & vec4(0x00ff00ffu)) * powers) & vec4(0x00ff00ffu);
  return centred(
    (((even * 3u) >> vec4(8u)) & vec4(0x00030003u)) | ((odd * 3u) & vec4(0x03000300u)),
  );
}
