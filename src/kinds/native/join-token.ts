import { AGE, defineKind } from '../define-kind.ts'
import type { ObjectOfKind } from '../define-kind.ts'
import {
  Conditions,
  enumOf,
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

// Only the form; the gateway reads it, and a network nobody can read has nobody in it.
const NETWORK = text({ max: 49, min: 3, pattern: '^[0-9A-Fa-f:.]+/[0-9]{1,3}$' })

/** Who may join. */
export const JoinToken = defineKind({
  kind: 'JoinToken',
  plural: 'jointokens',
  scope: 'Cluster',
  shortNames: ['fjt'],
  description:
    'Who may join the fleet: one name or a pattern of names, until when, how often, and the labels the hub stamps on them.',
  spec: object({
    tokenHash: text({
      max: 64,
      pattern: '^[0-9a-f]{64}$',
      immutable: true,
      description: 'SHA-256 of the secret, in hexadecimal. The secret itself is stored nowhere.',
    }),
    clusterName: optional(name({ description: 'The one name this token is for.' })),
    namePattern: optional(
      text({
        max: 253,
        min: 1,
        pattern: '^[a-z0-9.*?-]+$',
        description: 'A glob (`*`, `?`) of names this token is for.',
      }),
    ),
    expiresAt: time({ description: 'From then on the token admits nobody.' }),
    uses: int({ default: 1, minimum: 1, maximum: 100_000, description: 'How many clusters may join with it.' }),
    labels: mapOf(text({ max: 63 }), {
      max: 64,
      default: {},
      description: 'Labels the hub stamps on clusters that join with it.',
    }),
    siteClass: optional(
      enumOf(SITE_CLASSES, {
        description:
          'The kind of place of clusters that join with it. Connected: heard every 30 s, offline after 2 min. Edge: 60 s, 15 min. Intermittent: 5 min, 7 days.',
      }),
    ),
    accept: enumOf(['Auto', 'Manual', 'Networks', 'Rule'], {
      default: 'Manual',
      description:
        'Auto: accepted at the first join (needs `clusterName`; a pattern with Auto waits for a person). Manual: a person accepts. Networks: accepted at the first join from one of `acceptNetworks`, by a person from elsewhere. Rule: accepted at the first join when `acceptRule` says so, by a person otherwise.',
    }),
    acceptRule: optional(
      text({
        max: 4096,
        min: 1,
        description:
          'With accept Rule: CEL over `name`, `labels` (those the token stamps), `address` (as the gateway saw it; empty when unknown) and `agentVersion`. Anything but true leaves the cluster to a person.',
      }),
    ),
    acceptNetworks: optional(
      listOf(NETWORK, { max: 64, description: 'With accept Networks: joins from these networks need no person.' }),
    ),
    networks: optional(
      listOf(NETWORK, {
        max: 64,
        description: 'Where the token may be used from (CIDR); from anywhere when absent or empty.',
      }),
    ),
  }),
  status: object({
    conditions: Conditions,
    used: optional(int({ description: 'How many clusters joined with it.' })),
    usedBy: optional(
      listOf(
        object({
          cluster: name(),
          at: time(),
          address: optional(text({ max: 64, description: 'The address it joined from, as the gateway saw it.' })),
          key: optional(
            text({ max: 128, description: 'Digest of the identity key, so that one agent may try again.' }),
          ),
        }),
        { max: 500, description: 'Who joined, newest last.' },
      ),
    ),
  }),
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
