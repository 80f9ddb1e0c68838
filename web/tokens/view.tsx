// To come.

/** To come. */
export function TokensView() {
  return <p>TokensView</p>;
}
