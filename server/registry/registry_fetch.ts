// Which addresses a pull or push may send requests to. The user chooses the registry, and a local
// one is common, so it may be at any address except the metadata services of clouds. Its redirects,
// token realms and upload locations are the registry's choice: a registry on the Internet may only
// refer to public addresses.

import { checkedFetch, type CheckedFetchOptions } from "../network/checked_fetch.ts";
import { isMetadataAddress, isPublicAddress } from "../network/host.ts";

/**
 * A fetch for one registry, whose first request has to go to the registry itself. It throws
 * AddressError for addresses that must not be asked.
 */
export function registryFetch(
  registry: URL,
  options: Omit<CheckedFetchOptions, "choose"> = {},
): typeof globalThis.fetch {
  let isPublic: boolean | undefined;
  const ofRegistry = (addresses: readonly string[]) => {
    isPublic ??= addresses.some(isPublicAddress);
    // A name that resolves to different addresses each time must not get the rights of all of them.
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
