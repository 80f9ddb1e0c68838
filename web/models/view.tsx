// To come.

/** To come. */
export function ModelsView() {
  return <p>ModelsView</p>;
}
