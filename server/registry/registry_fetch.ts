// Whom a pull or push may ask. The registry itself is the user's choice, and a local one is common, so
// it may be anywhere but where clouds keep secrets. Where else its redirects, token realms and upload
// locations lead is the registry's choice: from the Internet they lead to nothing else.

import { checkedFetch, type CheckedFetchOptions } from "../network/checked_fetch.ts";
import { isMetadataAddress, isPublicAddress } from "../network/host.ts";

/**
 * A fetch for one registry, which is to be asked before what it refers to; it raises AddressError for
 * what must not be asked.
 */
export function registryFetch(
  registry: URL,
  options: Omit<CheckedFetchOptions, "choose"> = {},
): typeof globalThis.fetch {
  let isPublic: boolean | undefined;
  const ofRegistry = (addresses: readonly string[]) => {
    isPublic ??= addresses.some(isPublicAddress);
    // A name that leads now here, now there, would carry the rights of one place to the other.
    return addresses.filter((address) =>
      isPublicAddress(address) === isPublic && !isMetadataAddress(address)
    );
  };
  const ofOthers = (addresses: readonly string[]) =>
    addresses.filter((address) =>
      isPublicAddress(address) || isPublic === false && !isMetadataAddress(address)
    );
  const [own, others] = [ofRegistry, ofOthers].map((choose) =>
    checkedFetch({ ...options, choose })
  );
  return (input, init) => {
    const { hostname } = new URL(input instanceof Request ? input.url : input);
    return (hostname === registry.hostname ? own! : others!)(input, init);
  };
}
