import { expect, test, vi } from "vitest";

import { jsonLines } from "../support/crabpot.ts";
import { eventsOf } from "../support/host-records.ts";
import { AppRig } from "../support/whatsapp/app-rig.ts";

// Several starts of the host in one test.
vi.setConfig({ testTimeout: 600_000 });

test("what the configuration says of phone numbers holds for messages that come by LID, also after a kill and when WhatsApp does not say anymore who is who", async () => {
  await using rig = await AppRig.start(() => ({ text: "answered" }), {
    groups: { family: { oneName: true } },
    withoutContainers: "all",
    config: {
      people: { ann: { ids: ["whatsapp:+15550000011"], role: "owner" } },
      access: { deny: ["whatsapp:+15550000012"] },
      progress: { afterSeconds: 0, reactions: false },
    },
  });
  const { ann, bob, family, host, model, whatsapp } = rig;
  const heardBy = async (text: RegExp) => (await bob.texts(family)).filter((said) => text.test(said)).length;
  const rulesFor = async (wanted: string) => {
    const received = (await eventsOf(host, "message.received")).filter(({ actor }) => actor === `member:${wanted}`);
    return received.map(({ data }) => data["rule"]);
  };

  await bob.say(family, "@crab from bob");
  await ann.say(family, "/whoami");
  await expect.poll(() => heardBy(/known to me as ann\.\nYou are an owner here/)).toBe(1);
  const people = jsonLines((await host.cli("people", "list", "--json")).stdout);
  const doctor = jsonLines((await host.cli("doctor", "--json")).stdout).find(({ check }) => check === "people");

  await host.end("SIGKILL");
  await whatsapp.fault({ lidLookUp: "mute" });
  const stopped = jsonLines((await host.cli("people", "list", "--json")).stdout);
  await host.boot();
  await bob.say(family, "@crab from bob again");
  await ann.say(family, "@crab from ann");
  await expect.poll(() => heardBy(/^answered$/)).toBe(1);

  expect(await rulesFor(`${bob.lid}@lid`)).toEqual(["access-deny", "access-deny"]);
  expect(JSON.stringify(model.requests)).not.toContain("from bob");
  expect(people).toMatchObject([{ id: "whatsapp:90000000000011@lid", person: "ann", role: "owner" }]);
  expect(stopped).toEqual(people);
  expect(doctor).toMatchObject({ ok: true });
});
