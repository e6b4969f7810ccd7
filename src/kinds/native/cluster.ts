import { AGE, defineKind } from '../define-kind.ts'
import type { ObjectOfKind } from '../define-kind.ts'
import {
  Conditions,
  digest,
  duration,
  enumOf,
  flag,
  int,
  listMap,
  listOf,
  name,
  object,
  optional,
  rawObject,
  text,
  time,
} from '../schema/schema-builders.ts'
import { SITE_CLASSES } from '../fields/site-class.ts'
import { BUNDLE_STATES } from '../fields/states.ts'

const KEY = { max: 1024, min: 1, pattern: '^[A-Za-z0-9+/]+={0,2}$' }

/** Systems whose kinds Flotilla reads, and whose names for a cluster can be its aliases. */
const DIALECTS = ['fleet', 'ocm', 'argo', 'flux', 'karmada'] as const

const held = (description: string) =>
  optional(
    object(
      {
        reason: text({ max: 1024, min: 1, description: 'Why, for everybody who waits.' }),
        since: time(),
        by: optional(text({ max: 253, description: 'Who.' })),
      },
      { description },
    ),
  )

const AGENT = {
  instance: text({ max: 40, min: 1, description: 'Drawn anew at each start of an agent.' }),
  since: time({ description: 'When it was first heard.' }),
  address: optional(text({ max: 64, description: 'Where it spoke from, as the gateway saw it.' })),
}

/** A registered cluster. */
export const Cluster = defineKind({
  kind: 'Cluster',
  plural: 'clusters',
  scope: 'Cluster',
  shortNames: ['fcl'],
  events: {
    // `Available` is missing on purpose: offline is a state, not a failure.
    warnWhenTrue: ['AliasTaken', 'ClockSkewed', 'Cloned', 'DocumentRefused', 'HubBehind'],
    warnInState: ['Drifted', 'Failed'],
  },
  description:
    'A registered cluster: who it is, whether it is accepted, and what its agent last said. Its labels belong to the hub.',
  spec: object({
    id: text({
      max: 64,
      min: 1,
      immutable: true,
      description: 'Issued once by the hub; names the cluster on the wire.',
    }),
    accepted: flag({ default: false, description: 'Whether the cluster may have a certificate and receive content.' }),
    refused: optional(
      object(
        {
          verdict: enumOf(['Rejected', 'Revoked'], {
            description: 'Rejected: never accepted. Revoked: accepted once, and no longer.',
          }),
          at: time(),
          reason: optional(text({ max: 1024, description: 'Why, for people; the agent is not told.' })),
        },
        {
          description:
            'A person turned the cluster away: whatever `accepted` says, its key and certificates open nothing. Its workloads stay.',
        },
      ),
    ),
    aliases: optional(
      listMap(
        ['dialect', 'name'],
        object({
          dialect: enumOf(DIALECTS),
          name: text({ max: 253, min: 1, pattern: '^[A-Za-z0-9]([A-Za-z0-9._:/@-]*[A-Za-z0-9])?$' }),
        }),
        {
          max: 16,
          description:
            'What other systems call this cluster. Of clusters with the same alias the one made first has it; the others say so in condition AliasTaken.',
        },
      ),
    ),
    taints: optional(
      listMap(
        ['key', 'effect'],
        object({
          key: text({ max: 317, min: 1 }),
          value: optional(text({ max: 1024 })),
          effect: enumOf(['NoSelect', 'PreferNoSelect', 'NoSelectIfNew'], {
            description:
              'NoSelect: nobody without a toleration selects it. NoSelectIfNew: who selects it already may go on. PreferNoSelect: ranked last.',
          }),
          timeAdded: optional(time({ description: 'From then on tolerations with a time count.' })),
        }),
        { max: 64, description: 'Keep placements away that do not tolerate them. What the cluster runs stays.' },
      ),
    ),
    identityKey: text({ ...KEY, description: "The agent's enrolled identity key (SPKI, base64)." }),
    sealingKey: text({ ...KEY, description: 'The key secret values are sealed to (SPKI, base64).' }),
    retiredSealingKey: optional(
      object(
        {
          key: text({ ...KEY, description: 'Which one (SPKI, base64).' }),
          at: time({ description: 'When somebody asked.' }),
          by: optional(text({ max: 253, description: 'Who.' })),
          reason: optional(text({ max: 1024 })),
        },
        {
          description:
            'A sealing key that is not to be used any more: while it is the present one, the cluster’s document asks its agent for another. See `flotilla trust rotate sealing`.',
        },
      ),
    ),
    joinToken: optional(name({ description: 'The JoinToken the cluster enrolled with.' })),
    siteClass: optional(
      enumOf(SITE_CLASSES, {
        description:
          'The kind of place it is in; what its times were when it joined. Connected: heard every 30 s, offline after 2 min. Edge: 60 s, 15 min. Intermittent: 5 min, 7 days.',
      }),
    ),
    maxBytesPerSecond: optional(
      int({
        minimum: 1024,
        description:
          'How fast content is sent to it. Without it as its class says: Connected without limit, Edge 4 MiB/s, Intermittent 256 KiB/s.',
      }),
    ),
    values: optional(
      rawObject({ description: 'Values of this cluster for templates of bundles, as `.Cluster.Values`.' }),
    ),
    timeZone: optional(
      text({
        max: 64,
        min: 1,
        description:
          'IANA time zone of the site, such as `Europe/Berlin`: windows without a zone of their own follow it.',
      }),
    ),
    decommission: optional(
      object(
        {
          policy: enumOf(['Orphan', 'Remove'], {
            description:
              'Orphan: what runs there stays as it is. Remove: it is deleted as when the cluster is unplaced.',
          }),
          at: time({ description: 'When somebody asked.' }),
          forceUnreachable: optional(
            flag({ description: 'When it is offline, do not wait for it: what it had is listed as left.' }),
          ),
          reason: optional(text({ max: 1024 })),
          forgetAfter: optional(
            duration({
              description:
                'So long after its access is revoked the hub forgets it: the Cluster is deleted and its name is free. Until then a cluster that was away is told when it returns. Without it a person deletes it.',
            }),
          ),
        },
        {
          description:
            'The cluster leaves for good: no Placement selects it, all it has is removed or let go, then its access is revoked. Taking this field away before that takes it back.',
        },
      ),
    ),
    hold: held(
      'Held as it is: nothing new begins here, on the hub and in the agent, until it is released. What runs is kept and repaired.',
    ),
    cordon: held('Held as it is, and nobody selects it anew: as if tainted `flotilla.dev/cordoned:NoSelectIfNew`.'),
    logsAskedAt: optional(
      time({
        description:
          "When somebody last asked for the newest lines of the agent's log (`flotilla logs`). They come with its next report, if it is heard within ten minutes.",
      }),
    ),
    limits: optional(
      object(
        { maxPrune: optional(int({ description: 'The most objects of one bundle that are deleted at once.' })) },
        { description: 'In force in the agent besides its own ceiling; the lower one counts.' },
      ),
    ),
    checkInSeconds: int({
      default: 30,
      minimum: 1,
      maximum: 86400,
      description: 'How often the agent should be heard.',
    }),
    offlineAfterSeconds: int({
      default: 120,
      minimum: 1,
      maximum: 31_536_000,
      description: 'The silence after which the cluster counts as offline.',
    }),
  }),
  status: object({
    conditions: Conditions,
    state: optional(enumOf(BUNDLE_STATES, { description: 'The cluster as a whole.' })),
    message: optional(text({ max: 4096, description: 'Why the state is what it is.' })),
    since: optional(
      time({ description: 'Since when the state is what it is; while it is Offline, when its agent was last heard.' }),
    ),
    badges: optional(
      text({
        max: 256,
        description:
          'What else to know, separated by commas: Leaving or Left (decommissioned), Rejected or Revoked, Cordoned, Held, Frozen.',
      }),
    ),
    lastSeen: optional(
      time({
        description:
          'When the agent was last heard. While it is Available: some time within its offline tolerance. Once it is offline: to 10 seconds.',
      }),
    ),
    decommission: optional(
      object(
        {
          at: time({ description: 'Which decision this is about.' }),
          phase: enumOf(['Leaving', 'Cleared', 'Revoked']),
          left: optional(
            listOf(text({ max: 2100 }), { max: 100, description: 'What was left in the cluster; the first 100.' }),
          ),
        },
        { description: 'How far the cluster is on its way out.' },
      ),
    ),
    ahead: optional(
      object(
        {
          epoch: int(),
          revision: int(),
          document: digest(),
          at: time({ description: 'When the agent showed it.' }),
        },
        {
          description:
            'A document this hub signed and does not know: the agent holds it, so the hub came back from an older state. No document is issued to anybody until `flotilla hub new-epoch`.',
        },
      ),
    ),
    clockSkewSeconds: optional(
      int({
        minimum: -4_000_000_000,
        description: "How far the agent's clock is ahead of the hub's (negative: behind); absent below a minute.",
      }),
    ),
    kubernetesVersion: optional(text({ max: 64 })),
    agentVersion: optional(text({ max: 64 })),
    claims: optional(
      listMap(['name'], object({ name: text({ max: 253, min: 1 }), value: text({ max: 1024 }) }), {
        max: 64,
        description: 'What the cluster says about itself. Untrusted: may narrow a selection, never widen it.',
      }),
    ),
    scores: optional(
      listMap(
        ['resource', 'name'],
        object({
          resource: text({ max: 253, min: 1, description: 'Who scores.' }),
          name: text({ max: 253, min: 1, description: 'What is scored.' }),
          value: int({ minimum: -2147483648, maximum: 2147483647 }),
          validUntil: optional(time({ description: 'After it the score counts as 0.' })),
        }),
        { max: 256, description: 'Custom scores that Placements may rank by.' },
      ),
    ),
    agent: optional(
      object(
        {
          ...AGENT,
          before: optional(object(AGENT, { description: 'The one before it, until it is known to be gone.' })),
          rival: optional(
            object(AGENT, {
              description: 'Another live agent with the same identity; it is refused while the first one is heard.',
            }),
          ),
        },
        { description: 'The running agent that speaks for this cluster, as the gateways saw it.' },
      ),
    ),
    certificate: optional(
      object(
        { notAfter: time(), fingerprint: text({ max: 128, min: 1 }) },
        { description: "The agent's present transport certificate." },
      ),
    ),
    bundles: optional(
      object({ total: int(), ready: int() }, { description: 'Bundles assigned, and those that are Ready.' }),
    ),
  }),
  columns: [
    { name: 'State', type: 'string', jsonPath: '.status.state' },
    { name: 'Since', type: 'date', jsonPath: '.status.since', description: 'How long it has been in this state.' },
    { name: 'Badges', type: 'string', jsonPath: '.status.badges' },
    { name: 'Ready', type: 'integer', jsonPath: '.status.bundles.ready', description: 'Bundles that are Ready.' },
    { name: 'Bundles', type: 'integer', jsonPath: '.status.bundles.total', description: 'Bundles assigned.' },
    { name: 'Version', type: 'string', jsonPath: '.status.kubernetesVersion' },
    AGE,
    { name: 'Accepted', type: 'boolean', jsonPath: '.spec.accepted', priority: 1 },
    { name: 'Message', type: 'string', jsonPath: '.status.message', priority: 1 },
  ],
  examples: [
    {
      metadata: { name: 'store-042', labels: { region: 'eu-north', tier: 'store' } },
      spec: {
        id: 'c-7h2k9q',
        accepted: true,
        identityKey: 'MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=',
        sealingKey: 'MCowBQYDK2VuAyEA3p7bfXt9wbTTW2HC7OQ1Nz+DQ8hbeGdNrfx+FG+IK08=',
      },
    },
  ],
})
export type Cluster = ObjectOfKind<typeof Cluster>
