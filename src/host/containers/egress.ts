import { mcpServers } from "../../config/mcp.ts";
import type { GroupNetwork } from "../../domain/sandbox/egress.ts";
import { EgressProxies } from "../../sandbox/egress/egress-proxies.ts";
import type { EgressOverrides } from "../../sandbox/egress/egress-proxies.ts";
import type { AppContext } from "../context.ts";

/** Names the way out of a server's container, apart from those of groups, none of which has an @ in its name. */
export function serverOwner(server: string, group: string | undefined): string {
  return `mcp@${server}@${group ?? ""}`;
}

/** The server that is named like this, and whose; undefined for a group. */
export function serverOf(owner: string): { readonly server: string; readonly group: string | undefined } | undefined {
  const [kind, server = "", group = ""] = owner.split("@");
  return kind === "mcp" && owner.includes("@") ? { server, group: group === "" ? undefined : group } : undefined;
}

/** A server that is not configured any more may go nowhere. */
function serverNetworkOf(config: AppContext["config"], owner: string): GroupNetwork | undefined {
  const ofServer = serverOf(owner);
  if (!ofServer) return undefined;
  const server = mcpServers(config).find(({ name }) => name === ofServer.server);
  return server?.kind === "stdio" ? server.network : { allow: [], allowPrivate: [], reflects: [], secrets: [] };
}

/** The ways out of groups and of MCP servers. */
export function createEgress(context: AppContext, overrides: EgressOverrides | undefined): EgressProxies {
  const { config, live, home, logger, clock, store, publish } = context;
  return new EgressProxies({
    folder: home.paths.egress,
    keyFolder: home.paths.keys,
    networkOf: (owner) => serverNetworkOf(config, owner) ?? live.groupOf({ name: owner }).network,
    publish: async (event) => {
      const { group, data } = event;
      const ofServer = group === undefined ? undefined : serverOf(group);
      if (ofServer) {
        const { server } = ofServer;
        return publish({ ...event, group: ofServer.group, data: { ...data, server } });
      }
      // A connection that is on record is opened next: what comes back by it is known before it is there.
      if (data.verdict === "allowed" && group !== undefined) await store.origins.reach(group, "web", clock.now());
      await publish(event);
    },
    logger,
    get nameservers() {
      return config.sandbox.nameservers;
    },
    now: () => clock.now(),
    overrides,
  });
}
