// To come.

/** To come. */
export function MachineView() {
  return <p>MachineView</p>;
}
