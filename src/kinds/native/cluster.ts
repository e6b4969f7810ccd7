import { AGE, defineKind } from '../define-kind.ts'
import type { ObjectOfKind } from '../define-kind.ts'
import {
  Conditions,
  digest,
  duration,
  entryId,
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
import { X25519_KEY } from '../fields/report.ts'
import { SITE_CLASSES } from '../fields/site-class.ts'
import { BUNDLE_STATES, CLUSTER_WAITS } from '../fields/states.ts'

const KEY = { max: 1024, min: 1, pattern: '^[A-Za-z0-9+/]+={0,2}$' }
/** Empty until the hub has registered a cluster with a `kubeconfigSecret`. */
const ISSUED_KEY = { max: 1024, default: '', pattern: '^([A-Za-z0-9+/]+={0,2})?$' }

/** Systems whose names of clusters can be aliases. */
const DIALECTS = ['fleet', 'ocm', 'argo', 'flux', 'karmada'] as const

const held = (description: string) =>
  optional(
    object(
      {
        reason: text({ max: 1024, min: 1, description: 'Reason, shown wherever a change waits.' }),
        since: time({ description: 'Time at which the change of the cluster was stopped.' }),
        by: optional(text({ max: 253, description: 'User who stopped changes of the cluster.' })),
      },
      { description },
    ),
  )

/** Steps of a handover from another system. */
const HANDOVER_STEPS = ['Compare', 'Take', 'Finish', 'Done', 'Undo'] as const

const AGENT = {
  instance: text({ max: 40, min: 1, description: 'Random ID of the agent process, new at each start.' }),
  since: time({ description: 'Time of the first contact of this agent process.' }),
  address: optional(text({ max: 64, description: 'Network address of the agent, as the gateway saw it.' })),
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
    warnWhenFalse: ['Pushed'],
    warnInState: ['Drifted', 'Failed'],
  },
  description:
    'Registered Kubernetes cluster: its identity, its acceptance, and the last observed state. The labels of a Cluster are set by users of the hub, never by the agent.',
  spec: object(
    {
      id: text({
        max: 64,
        default: '',
        rules: [{ rule: "oldSelf == '' || self == oldSelf", message: 'field is immutable' }],
        description:
          'ID of the cluster on the wire, issued once by the hub. Required without `kubeconfigSecret`. Defaults to "".',
      }),
      accepted: flag({
        default: false,
        description: 'If true, the cluster may receive a certificate and content. Defaults to false.',
      }),
      refused: optional(
        object(
          {
            verdict: enumOf(['Rejected', 'Revoked'], {
              description:
                'Kind of the refusal. `Rejected`: the cluster was never accepted. `Revoked`: the cluster was accepted before.',
            }),
            at: time({ description: 'Time of the decision.' }),
            reason: optional(text({ max: 1024, description: 'Reason of the decision. Not sent to the agent.' })),
          },
          {
            description:
              'Decision of a person to refuse the cluster. Overrides `accepted`: the hub rejects the key and the certificates of the cluster. Its workloads keep running.',
          },
        ),
      ),
      aliases: optional(
        listMap(
          ['dialect', 'name'],
          object({
            dialect: enumOf(DIALECTS, { description: 'System that uses the name.' }),
            name: text({
              max: 253,
              min: 1,
              pattern: '^[A-Za-z0-9]([A-Za-z0-9._:/@-]*[A-Za-z0-9])?$',
              description: 'Name of the cluster in that system.',
            }),
          }),
          {
            max: 16,
            description:
              'Names of this cluster in other systems. If several clusters have the same alias, the cluster that was created first owns it; the other clusters report condition AliasTaken.',
          },
        ),
      ),
      taints: optional(
        listMap(
          ['key', 'effect'],
          object({
            key: text({ max: 317, min: 1, description: 'Key of the taint.' }),
            value: optional(text({ max: 1024, description: 'Value of the taint.' })),
            effect: enumOf(['NoSelect', 'PreferNoSelect', 'NoSelectIfNew'], {
              description:
                'Effect on Placements without a matching toleration. `NoSelect`: the cluster is not selected. `NoSelectIfNew`: the cluster stays selected where it already is. `PreferNoSelect`: the cluster is ranked last.',
            }),
            timeAdded: optional(time({ description: 'Time from which `tolerationSeconds` is counted.' })),
          }),
          {
            max: 64,
            description:
              'Taints that keep Placements from selecting the cluster unless they tolerate them. Content that already runs stays.',
          },
        ),
      ),
      kubeconfigSecret: optional(
        object(
          {
            namespace: name({ description: 'Namespace of the Secret.' }),
            name: name({ description: 'Name of the Secret.' }),
            key: text({
              max: 253,
              default: 'value',
              pattern: '^[-._a-zA-Z0-9]+$',
              description: 'Key of the Secret. Defaults to `value`.',
            }),
          },
          {
            description:
              'Secret of the hub with a kubeconfig of the cluster. The hub runs the agent of the cluster itself (badge `Pushed`): with this kubeconfig it creates a service account for the agent in the cluster, and uses it for nothing else. Naming a Secret requires the verb `accept` on the Cluster and the verb `get` on the Secret.',
          },
        ),
      ),
      identityKey: text({
        ...ISSUED_KEY,
        description:
          'Public identity key of the agent, SPKI in base64. Required without `kubeconfigSecret`, and then immutable: a cluster with another key is another cluster. Defaults to "".',
      }),
      sealingKey: text({
        ...ISSUED_KEY,
        description:
          'Public key that secret values are encrypted for, SPKI in base64. Required without `kubeconfigSecret`. Defaults to "".',
      }),
      retiredSealingKey: optional(
        object(
          {
            key: text({ ...KEY, description: 'Public key that is retired, SPKI in base64.' }),
            at: time({ description: 'Time of the request.' }),
            by: optional(text({ max: 253, description: 'User who requested the rotation.' })),
            reason: optional(text({ max: 1024, description: 'Reason of the request.' })),
          },
          {
            description:
              'Sealing key that must no longer be used. While it equals `sealingKey`, the document of the cluster asks the agent for a new key. See `flotilla trust rotate sealing`.',
          },
        ),
      ),
      joinToken: optional(name({ description: 'Name of the JoinToken that the cluster joined with.' })),
      siteClass: optional(
        enumOf(SITE_CLASSES, {
          description:
            'Class of the site, which sets the initial times when the cluster joins. `Connected`: check-in every 30 s, offline after 2 minutes. `Edge`: 60 s and 15 minutes. `Intermittent`: 5 minutes and 7 days.',
        }),
      ),
      maxBytesPerSecond: optional(
        int({
          minimum: 1024,
          description:
            'Maximum rate at which content is sent to the cluster, in bytes per second. Defaults to the rate of the site class: `Connected` unlimited, `Edge` 4 MiB/s, `Intermittent` 256 KiB/s.',
        }),
      ),
      values: optional(
        rawObject({ description: 'Values of the cluster for templates of Bundles, available as `.Cluster.Values`.' }),
      ),
      timeZone: optional(
        text({
          max: 64,
          min: 1,
          description:
            'IANA time zone of the site, for example `Europe/Berlin`. Used by windows without `zone`. Defaults to UTC.',
        }),
      ),
      decommission: optional(
        object(
          {
            policy: enumOf(['Orphan', 'Remove'], {
              description:
                'Policy for the content of the cluster. `Orphan`: all objects stay. `Remove`: objects are deleted as when a Placement no longer selects the cluster.',
            }),
            at: time({ description: 'Time of the request.' }),
            forceUnreachable: optional(
              flag({
                description:
                  'If true, the hub does not wait for a cluster that is offline and lists its content as left in place. Defaults to false.',
              }),
            ),
            reason: optional(text({ max: 1024, description: 'Reason of the request.' })),
            forgetAfter: optional(
              duration({
                description:
                  'Time after the revocation at which the hub deletes the Cluster and frees its name, for example `720h`. Until then a cluster that was offline is told to stop when it returns. If omitted, a person deletes the Cluster.',
              }),
            ),
          },
          {
            description:
              'Request to remove the cluster from the fleet. No Placement selects the cluster, its content is removed or orphaned, and then its access is revoked. Removing this field before the access is revoked cancels the request.',
          },
        ),
      ),
      hold: held(
        'Hold on the cluster: no changes start, neither on the hub nor in the agent, until the hold is released. The agent continues to repair drift.',
      ),
      cordon: held(
        'Cordon of the cluster: a hold, and no Placement selects the cluster anew, as with the taint `flotilla.dev/cordoned:NoSelectIfNew`.',
      ),
      handover: optional(
        object(
          {
            from: text({
              max: 63,
              min: 1,
              pattern: '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$',
              description: 'System that managed the content of the cluster before, for example `ocm`.',
            }),
            step: enumOf(HANDOVER_STEPS, {
              description:
                'Step of the handover. `Compare`: the agent compares the content of its Bundles with the objects in the cluster, reports the differences and writes nothing. `Take`: the agent stops the controllers of the other system and takes the objects over. `Finish`: the agent removes the marks of the other system; this step cannot be undone. `Done`: the handover is complete. `Undo`: the agent gives the objects back and starts the controllers of the other system again.',
              rules: [
                {
                  rule: "!(oldSelf in ['Finish', 'Done']) || self in ['Finish', 'Done']",
                  message: 'the last step of a handover has begun and cannot be undone',
                },
                {
                  rule: "self != 'Finish' || oldSelf in ['Take', 'Finish']",
                  message: 'step Finish follows step Take',
                },
                {
                  rule: "self != 'Done' || oldSelf in ['Finish', 'Done']",
                  message: 'step Done follows step Finish',
                },
              ],
            }),
            acceptDifferences: optional(
              flag({
                description:
                  'If true, step `Take` also overwrites fields that differ. Defaults to false: a Bundle with an object that differs is Failed, and changes nothing.',
              }),
            ),
            peerStopped: optional(
              flag({
                description:
                  'If true, a person has stopped the controllers of the other system for this cluster, for example where they run in another cluster, and the agent stops none. Defaults to false: step `Take` fails when the cluster has no controllers of the other system.',
              }),
            ),
            since: time({ description: 'Time at which the step began.' }),
            by: optional(text({ max: 253, description: 'User who began the step.' })),
          },
          {
            description:
              'Handover of the cluster from another system. `flotilla handover` sets this field; see the guide to move clusters from another system.',
          },
        ),
      ),
      logsAskedAt: optional(
        time({
          description:
            'Time of the last request for log lines of the agent (`flotilla logs`). The agent sends them with its next report if it contacts the hub within 10 minutes.',
        }),
      ),
      valuesAsked: optional(
        object(
          {
            at: time({ description: 'Time of the request.' }),
            bundle: entryId({ description: 'Bundle or Delivery whose drift the values explain.' }),
            key: text({
              max: 64,
              pattern: X25519_KEY,
              description: 'Public X25519 key that the agent seals the values to, SPKI in base64.',
            }),
          },
          {
            description:
              'Last request for the values of drifted fields (`flotilla drift show --values`). The agent sends them with its next report if it contacts the hub within 10 minutes. Setting this field needs the verb `reveal` on the BundleState.',
          },
        ),
      ),
      capacityAskedAt: optional(
        time({
          description:
            'Time since which the agent reports the free resources of the cluster. Set by the hub while a policy divides replicas by free resources; absent otherwise.',
        }),
      ),
      limits: optional(
        object(
          {
            maxPrune: optional(
              int({ description: 'Maximum number of objects of one Bundle that the agent deletes in one operation.' }),
            ),
          },
          { description: 'Limits that the agent enforces in addition to its local limits. The lower limit applies.' },
        ),
      ),
      checkInSeconds: int({
        default: 30,
        minimum: 1,
        maximum: 86400,
        description: 'Interval in seconds at which the agent is expected to contact the hub. Defaults to 30.',
      }),
      offlineAfterSeconds: int({
        default: 120,
        minimum: 1,
        maximum: 31_536_000,
        description: 'Time in seconds without contact after which the cluster is offline. Defaults to 120.',
      }),
    },
    {
      description: 'Registration and settings of the cluster.',
      rules: [
        {
          rule: "has(self.kubeconfigSecret) || (self.id != '' && self.identityKey != '' && self.sealingKey != '')",
          message: 'id, identityKey and sealingKey are required without kubeconfigSecret',
        },
        {
          rule: "oldSelf.identityKey == '' || self.identityKey == oldSelf.identityKey || has(self.kubeconfigSecret) || has(oldSelf.kubeconfigSecret)",
          message: 'identityKey is immutable without kubeconfigSecret',
        },
      ],
    },
  ),
  status: object(
    {
      conditions: Conditions,
      state: optional(
        enumOf(BUNDLE_STATES, {
          description:
            'State of the cluster as a whole. `NotSelected`: no bundle reaches the cluster. Absent for a cluster that left or was turned away.',
        }),
      ),
      waitsFor: optional(
        enumOf(CLUSTER_WAITS, {
          description:
            'Event that the cluster waits for. `acceptance`: a person accepts it. `connection`: its agent contacts the hub. `rollout`: a Rollout admits it for a Bundle that selects it.',
        }),
      ),
      message: optional(text({ max: 4096, description: 'Explanation of the state.' })),
      since: optional(
        time({
          description:
            'Time of the last change of the state. While the state is Offline, the time of the last contact.',
        }),
      ),
      badges: optional(
        text({
          max: 256,
          description:
            'Marks besides the state, separated by commas: Leaving or Left (decommissioned), Rejected or Revoked, Cordoned, Held, Frozen, Pushed (the hub runs the agent).',
        }),
      ),
      lastSeen: optional(
        time({
          description:
            'Time of the last contact of the agent, accurate to 10 seconds, while the cluster is offline. While it is Available, the time is updated only with other changes of the status, and the last contact was within the offline tolerance.',
        }),
      ),
      decommission: optional(
        object(
          {
            at: time({ description: 'Value of `spec.decommission.at` of the request that this progress belongs to.' }),
            phase: enumOf(['Leaving', 'Cleared', 'Revoked'], {
              description:
                'Phase of the decommissioning. `Leaving`: content is being removed or orphaned. `Cleared`: all content is accounted for. `Revoked`: the access of the cluster is revoked.',
            }),
            left: optional(
              listOf(text({ max: 2100 }), {
                max: 100,
                description: 'Objects and Bundles left in the cluster, at most the first 100.',
              }),
            ),
          },
          { description: 'Progress of the decommissioning.' },
        ),
      ),
      ahead: optional(
        object(
          {
            epoch: int({ description: 'Epoch of the unknown document.' }),
            revision: int({ description: 'Revision of the unknown document.' }),
            document: digest({ description: 'Digest of the unknown document.' }),
            at: time({ description: 'Time at which the agent presented the document.' }),
          },
          {
            description:
              'Document that the agent holds and that this hub signed but does not know: the hub was restored from an older state. The hub issues no documents until `flotilla hub new-epoch` is run.',
          },
        ),
      ),
      clockSkewSeconds: optional(
        int({
          minimum: -4_000_000_000,
          description:
            'Difference between the clocks of agent and hub in seconds, negative if the agent is behind. Absent below 60 s.',
        }),
      ),
      kubernetesVersion: optional(
        text({ max: 64, description: 'Kubernetes version of the cluster, reported by the agent.' }),
      ),
      agentVersion: optional(text({ max: 64, description: 'Version of the agent.' })),
      claims: optional(
        listMap(
          ['name'],
          object({
            name: text({ max: 253, min: 1, description: 'Name of the claim.' }),
            value: text({ max: 1024, description: 'Value of the claim.' }),
          }),
          {
            max: 64,
            description:
              'Claims that the agent reports about its cluster. The hub does not trust claims: a claim can narrow a selection, never widen it.',
          },
        ),
      ),
      scores: optional(
        listMap(
          ['resource', 'name'],
          object({
            resource: text({ max: 253, min: 1, description: 'Name of the scorer.' }),
            name: text({ max: 253, min: 1, description: 'Name of the score.' }),
            value: int({
              minimum: -2147483648,
              maximum: 2147483647,
              description: 'Value of the score. Higher values are preferred by a positive weight.',
            }),
            validUntil: optional(time({ description: 'Expiry time of the score. Afterwards the score counts as 0.' })),
          }),
          { max: 256, description: 'Custom scores that Placements can rank clusters by.' },
        ),
      ),
      agent: optional(
        object(
          {
            ...AGENT,
            before: optional(
              object(AGENT, { description: 'Previous agent process, until it is known to have stopped.' }),
            ),
            rival: optional(
              object(AGENT, {
                description:
                  'Second live agent process with the same identity. The gateway refuses it while the first process keeps contact.',
              }),
            ),
          },
          { description: 'Agent process that speaks for this cluster, as seen by the gateways.' },
        ),
      ),
      certificate: optional(
        object(
          {
            notAfter: time({ description: 'Expiry time of the certificate.' }),
            fingerprint: text({ max: 128, min: 1, description: 'Fingerprint of the certificate.' }),
          },
          { description: 'Current client certificate of the agent.' },
        ),
      ),
      bundles: optional(
        object(
          {
            total: int({ description: 'Number of Bundles assigned to the cluster.' }),
            ready: int({ description: 'Number of assigned Bundles that are Ready.' }),
          },
          { description: 'Number of Bundles on the cluster.' },
        ),
      ),
    },
    { description: 'Observed state of the cluster. Set by the hub.' },
  ),
  columns: [
    { name: 'State', type: 'string', jsonPath: '.status.state' },
    { name: 'Since', type: 'date', jsonPath: '.status.since', description: 'Time since the last change of the state.' },
    { name: 'Badges', type: 'string', jsonPath: '.status.badges' },
    {
      name: 'Ready',
      type: 'integer',
      jsonPath: '.status.bundles.ready',
      description: 'Number of Bundles that are Ready.',
    },
    {
      name: 'Bundles',
      type: 'integer',
      jsonPath: '.status.bundles.total',
      description: 'Number of Bundles assigned to the cluster.',
    },
    AGE,
    { name: 'Version', type: 'string', jsonPath: '.status.kubernetesVersion', priority: 1 },
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
    {
      metadata: { name: 'store-043', labels: { region: 'eu-north', tier: 'store' } },
      spec: { accepted: true, kubeconfigSecret: { namespace: 'flotilla-system', name: 'store-043-kubeconfig' } },
    },
  ],
})
export type Cluster = ObjectOfKind<typeof Cluster>
