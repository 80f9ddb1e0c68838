// Doubled values of the 4-bit floats (E2M1) of a group, one in each byte: those in the low nibbles of
// `codes`, then those in the high ones. By the lower three bits they are 0, 1, 2, 3, 4, 6, 8, 12: from 4
// on, the lower two bits c count twice, and once more twice if c is 3. All fit a nibble, and so are made
// where they are.
struct Fp4Doubles {
  low: vec4<u32>,
  high: vec4<u32>,
}

fn fp4_doubles(codes: vec4<u32>) -> Fp4Doubles {
  let large = ((codes >> vec4(1u)) & vec4(0x22222222u)) | ((codes >> vec4(2u)) & vec4(0x11111111u));
  let again = codes & large;
  let both = again & (again >> vec4(1u));
  let doubles = (codes & vec4(0x77777777u)) + again + (both << vec4(1u));
  let negative = (codes >> vec4(3u)) & vec4(0x11111111u);
  let flips = (negative << vec4(4u)) - negative;
  let flipped = doubles ^ flips;
  return Fp4Doubles(
    minus_fifteens(low_nibbles(flipped), low_nibbles(flips)),
    minus_fifteens(high_nibbles(flipped), high_nibbles(flips)),
  );
}

// Bytes less others, which are 15 where the bytes are a nibble's complement, else 0.
fn minus_fifteens(bytes: vec4<u32>, fifteens: vec4<u32>) -> vec4<u32> {
  return ((bytes | vec4(0x80808080u)) - fifteens) ^ vec4(0x80808080u);
}
