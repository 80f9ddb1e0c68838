// Which addresses are public, and requests that go to addresses which were checked.

import { assertEquals, assertRejects } from "@std/assert";
import { AddressError, checkedFetch } from "../../../server/network/checked_fetch.ts";
import { isMetadataAddress, isPublicAddress } from "../../../server/network/host.ts";

Deno.test("isPublicAddress() and isMetadataAddress() know the special addresses of IPv4 and IPv6", () => {
  const open = [
    "8.8.8.8",
    "1.1.1.1",
    "100.63.255.255",
    "100.128.0.1",
    "172.32.0.1",
    "223.255.255.1",
  ];
  for (const address of [...open, "2606:4700::1111", "2a00::1", "64:ff9b::808:808"]) {
    assertEquals([address, isPublicAddress(address)], [address, true]);
    assertEquals([address, isMetadataAddress(address)], [address, false]);
  }
  const closed = [
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "100.64.0.1",
    "127.0.0.1",
    "127.255.0.9",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.0.2.1",
    "192.168.1.1",
    "198.19.0.1",
    "203.0.113.9",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "168.63.129.16",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:a9fe:a9fe",
    "::ffff:0:127.0.0.1",
    "fe80::1",
    "fec0::1",
    "fc00::1",
    "fd00:ec2::254",
    "ff02::1",
    "64:ff9b::7f00:1",
    "64:ff9b::",
    "64:ff9b:1::808:808",
    "100::1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "3fff::1",
    "4000::1",
    "localhost",
    "",
  ];
  for (const address of closed) assertEquals([address, isPublicAddress(address)], [address, false]);
  for (const address of ["169.254.169.254", "::ffff:a9fe:a9fe", "fe80::1", "fd00:ec2::254"]) {
    assertEquals([address, isMetadataAddress(address)], [address, true]);
  }
});

Deno.test("checkedFetch() checks every spelling of an address before anything is sent", async () => {
  const asked: string[] = [];
  const fetch = checkedFetch({
    choose: (addresses) => addresses.filter(isPublicAddress),
    resolve: (hostname) => {
      const addresses: Record<string, string[]> = {
        "one.test": ["10.0.0.1"],
        "localhost": ["127.0.0.1", "::1"],
        "fine.test": ["8.8.8.8"],
      };
      return addresses[hostname.replace(/\.$/, "")]
        ? Promise.resolve(addresses[hostname.replace(/\.$/, "")]!)
        : Promise.reject(new Error(`no address of ${hostname}`));
    },
    fetch: (input) => {
      asked.push(String(input));
      return Promise.resolve(new Response("ok"));
    },
  });
  const refused = [
    "http://127.0.0.1/",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://0177.0.0.1:8500/",
    "http://127.1/",
    "http://①②⑦.0.0.1/",
    "http://127.0.0.1./",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[0:0:0:0:0:ffff:a9fe:a9fe]/",
    "http://[fe80::1]/",
    "http://169.254.169.254/latest/meta-data",
    "http://user:word@127.0.0.1/",
    "http://fine.test@127.0.0.1/",
    "http://one.test/",
    "http://ONE.test./",
    "https://one.test:8443/",
    "http://localhost/",
    "https://LOCALHOST./",
  ];
  for (const url of refused) await assertRejects(() => fetch(url), AddressError);
  assertEquals(asked, []);
  await assertRejects(() => fetch("http://nowhere.test/"), Error, "no address of nowhere.test");
  await fetch("https://fine.test/path");
  await fetch("http://fine.test:81/path");
  assertEquals(asked, ["https://fine.test/path", "http://8.8.8.8:81/path"]);
});

Deno.test("checkedFetch() connects to the address that was checked, whatever the name leads to later", async () => {
  const seen: (string | null)[] = [];
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    seen.push(request.headers.get("host"));
    return request.url.endsWith("/moved")
      ? new Response(null, { status: 302, headers: { location: "http://10.0.0.1/" } })
      : new Response(request.body);
  });
  const { port } = server.addr;
  let lookups = 0;
  const fetch = checkedFetch({
    // The first has nobody that listens.
    choose: (addresses) => addresses,
    resolve: () => {
      lookups++;
      return Promise.resolve(["127.0.0.9", "127.0.0.1"]);
    },
  });
  const url = `http://rebinding.test:${port}`;
  const answer = await fetch(url, { method: "POST", body: "words" });
  assertEquals([answer.status, await answer.text(), lookups], [200, "words", 1]);
  const moved = await fetch(`${url}/moved`);
  assertEquals([moved.status, moved.headers.get("location")], [302, "http://10.0.0.1/"]);
  await moved.body?.cancel();
  assertEquals(seen, [`rebinding.test:${port}`, `rebinding.test:${port}`]);
});

Deno.test("checkedFetch() stops waiting for an address when it is told to", async () => {
  const fetch = checkedFetch({
    choose: (addresses) => addresses,
    resolve: () => new Promise(() => {}),
  });
  const signal = AbortSignal.timeout(20);
  await assertRejects(() => fetch("http://slow.test", { signal }), DOMException, "due to timeout");
});
