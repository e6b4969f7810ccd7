import { AGE, defineKind } from '../define-kind.ts'
import type { ObjectOfKind } from '../define-kind.ts'
import {
  Conditions,
  enumOf,
  flag,
  int,
  listOf,
  mapOf,
  name,
  object,
  optional,
  text,
  time,
} from '../schema/schema-builders.ts'
import { SITE_CLASSES } from '../fields/site-class.ts'

// Checks the form only. The gateway parses the network, and a network that it cannot parse contains no address.
const NETWORK = text({ max: 49, min: 3, pattern: '^[0-9A-Fa-f:.]+/[0-9]{1,3}$' })

export const JoinToken = defineKind({
  kind: 'JoinToken',
  plural: 'jointokens',
  scope: 'Cluster',
  shortNames: ['fjt'],
  description:
    'Permission for clusters to join the fleet: the allowed names, the expiry time, the number of uses, and the labels that the hub sets on the clusters.',
  spec: object(
    {
      tokenHash: text({
        max: 64,
        pattern: '^[0-9a-f]{64}$',
        immutable: true,
        description: 'SHA-256 of the secret, in hexadecimal. The secret itself is not stored.',
      }),
      clusterName: optional(
        name({
          description: 'Name of the single cluster that may join. Either `clusterName` or `namePattern` is required.',
        }),
      ),
      namePattern: optional(
        text({
          max: 253,
          min: 1,
          pattern: '^[a-z0-9.*?-]+$',
          description: 'Glob pattern (`*`, `?`) of the names of clusters that may join, for example `store-*`.',
        }),
      ),
      expiresAt: time({ description: 'Expiry time of the token. Afterwards no cluster can join with it.' }),
      uses: int({
        default: 1,
        minimum: 1,
        maximum: 100_000,
        description: 'Maximum number of clusters that may join with the token. Defaults to 1.',
      }),
      labels: mapOf(text({ max: 63 }), {
        max: 64,
        default: {},
        description: 'Labels that the hub sets on clusters that join with the token. Defaults to no labels.',
      }),
      siteClass: optional(
        enumOf(SITE_CLASSES, {
          description:
            'Site class of clusters that join with the token. `Connected`: check-in every 30 s, offline after 2 minutes. `Edge`: 60 s and 15 minutes. `Intermittent`: 5 minutes and 7 days.',
        }),
      ),
      accept: enumOf(['Auto', 'Manual', 'Networks', 'Rule'], {
        default: 'Manual',
        description:
          'Acceptance of clusters at their first join. `Auto` accepts the cluster and requires `clusterName`; with `namePattern` a person must accept. `Manual`: a person must accept. `Networks` accepts clusters that join from `acceptNetworks`. `Rule` accepts clusters for which `acceptRule` is true. All other clusters wait for a person. Defaults to `Manual`.',
      }),
      takeOver: optional(
        flag({
          description:
            'If true, the agent that joins as `clusterName` replaces the agent that the hub runs for this cluster (badge `Pushed`): the hub forgets the kubeconfig of the cluster, and the cluster keeps its name, id, labels and content. Without it, a name that is in use is refused. Defaults to false.',
        }),
      ),
      acceptRule: optional(
        text({
          max: 4096,
          min: 1,
          description:
            'CEL expression for `accept: Rule` over `name`, `labels` (the labels of the token), `address` (as the gateway saw it; empty if unknown) and `agentVersion`. Any result other than true leaves the decision to a person.',
        }),
      ),
      acceptNetworks: optional(
        listOf(NETWORK, {
          max: 64,
          description: 'Networks in CIDR notation for `accept: Networks`. Clusters that join from them are accepted.',
        }),
      ),
      networks: optional(
        listOf(NETWORK, {
          max: 64,
          description:
            'Networks in CIDR notation that the token may be used from, for example `10.0.0.0/8`. If omitted or empty, the token may be used from all networks.',
        }),
      ),
    },
    { description: 'Terms under which clusters may join.' },
  ),
  status: object(
    {
      conditions: Conditions,
      used: optional(int({ description: 'Number of clusters that joined with the token.' })),
      usedBy: optional(
        listOf(
          object({
            cluster: name({ description: 'Name of the cluster.' }),
            at: time({ description: 'Time of the join.' }),
            address: optional(text({ max: 64, description: 'Network address of the agent, as the gateway saw it.' })),
            key: optional(
              text({
                max: 128,
                description: "Digest of the agent's identity key. Allows the same agent to repeat its request.",
              }),
            ),
          }),
          { max: 500, description: 'Clusters that joined with the token, newest last, at most 500.' },
        ),
      ),
      takeOver: optional(
        object(
          {
            identityKey: text({ max: 1024, description: 'Public identity key of the agent, SPKI in base64.' }),
            sealingKey: text({ max: 1024, description: 'Public sealing key of the agent, SPKI in base64.' }),
          },
          {
            description:
              'Keys of the agent that joined with a token that has `takeOver`. The hub writes them to the Cluster and stops the agent that it runs.',
          },
        ),
      ),
    },
    { description: 'Observed use of the token. Set by the gateway.' },
  ),
  columns: [
    { name: 'Cluster', type: 'string', jsonPath: '.spec.clusterName' },
    { name: 'Pattern', type: 'string', jsonPath: '.spec.namePattern' },
    { name: 'Used', type: 'integer', jsonPath: '.status.used' },
    { name: 'Uses', type: 'integer', jsonPath: '.spec.uses' },
    { name: 'Accept', type: 'string', jsonPath: '.spec.accept' },
    // A date column shows an age, and a time to come has none.
    { name: 'Expires', type: 'string', jsonPath: '.spec.expiresAt' },
    AGE,
  ],
  examples: [
    {
      metadata: { name: 'store-042' },
      spec: {
        tokenHash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
        clusterName: 'store-042',
        expiresAt: '2030-01-01T00:00:00Z',
        labels: { region: 'eu-north' },
        accept: 'Auto',
      },
    },
  ],
})
export type JoinToken = ObjectOfKind<typeof JoinToken>
