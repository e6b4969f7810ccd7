// Tested by src/dialects/fleet/controllers/registration.sim.test.ts
/** Fleet's kinds for clusters that register themselves, and the kinds that are refused by name. */
import { AGE, kindOf } from '../../kinds/define-kind.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { LabelSelector } from '../../core/text/label-selector.ts'
import type { Condition, KubeObject } from '../../kinds/meta.ts'
import {
  Conditions,
  flag,
  int,
  labelSelector,
  object,
  optional,
  rawObject,
  stringMap,
  text,
  time,
} from '../../kinds/schema/schema-builders.ts'
import { toStructural } from '../../kinds/schema/structural.ts'
import { FLEET_GROUP } from './compile/read-git-repo.ts'

const VERSION = 'v1alpha1'
const observed = () => optional(int())

/** Permission for clusters to join a workspace. */
export interface ClusterRegistrationToken extends KubeObject {
  spec?: { ttl?: string }
  status?: { observedGeneration?: number; conditions?: Condition[]; expires?: string; secretName?: string }
}

/** Fleet's ClusterRegistrationToken: a JoinToken, and a Secret with its code. */
export const ClusterRegistrationToken: Kind<ClusterRegistrationToken> = kindOf<ClusterRegistrationToken>({
  group: FLEET_GROUP,
  version: VERSION,
  kind: 'ClusterRegistrationToken',
  plural: 'clusterregistrationtokens',
  scope: 'Namespaced',
  description: 'Permission for clusters to join the workspace; the Secret of the same name has the command to run.',
  categories: ['fleet'],
  subresources: { status: true },
  fields: {
    spec: toStructural(
      object({
        ttl: optional(
          text({
            max: 64,
            pattern: '^([0-9]+(\\.[0-9]+)?(ms|s|m|h))*$',
            description: 'Time for which clusters can join, for example `24h`. Defaults to 240h.',
          }),
        ),
      }),
    ),
    status: toStructural(
      object({
        observedGeneration: observed(),
        conditions: Conditions,
        expires: optional(time({ description: 'Time after which no cluster can join, and the token is deleted.' })),
        secretName: optional(text({ max: 253, description: 'Name of the Secret with the command.' })),
      }),
    ),
  },
  columns: [
    { name: 'Secret-Name', type: 'string', jsonPath: '.status.secretName' },
    { name: 'Expires', type: 'string', jsonPath: '.status.expires' },
    { ...AGE, priority: 1 },
  ],
})

/** A request of an agent of Fleet. */
export interface ClusterRegistration extends KubeObject {
  spec?: { clientID?: string; clientRandom?: string; clusterLabels?: Record<string, string> }
  status?: { observedGeneration?: number; conditions?: Condition[]; clusterName?: string; granted?: boolean }
}

/** Fleet's ClusterRegistration; it is never granted. */
export const ClusterRegistration: Kind<ClusterRegistration> = kindOf<ClusterRegistration>({
  group: FLEET_GROUP,
  version: VERSION,
  kind: 'ClusterRegistration',
  plural: 'clusterregistrations',
  scope: 'Namespaced',
  description: 'Request of an agent of Fleet to join. It is not granted: an agent of Flotilla joins instead.',
  categories: ['fleet'],
  subresources: { status: true },
  fields: {
    spec: toStructural(
      object({
        clientID: optional(text({ max: 512 })),
        clientRandom: optional(text({ max: 512 })),
        clusterLabels: optional(stringMap()),
      }),
    ),
    status: toStructural(
      object({
        observedGeneration: observed(),
        conditions: Conditions,
        clusterName: optional(text({ max: 253 })),
        granted: optional(flag()),
      }),
    ),
  },
  columns: [
    { name: 'Cluster-Name', type: 'string', jsonPath: '.status.clusterName' },
    { name: 'Granted', type: 'string', jsonPath: '.status.granted' },
    { name: 'Status', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].message', priority: 1 },
    { ...AGE, priority: 1 },
  ],
})

/** Clusters of other workspaces that bundles of a workspace reach. */
export interface BundleNamespaceMapping extends KubeObject {
  bundleSelector?: LabelSelector
  namespaceSelector?: LabelSelector
}

/** Fleet's BundleNamespaceMapping. */
export const BundleNamespaceMapping: Kind<BundleNamespaceMapping> = kindOf<BundleNamespaceMapping>({
  group: FLEET_GROUP,
  version: VERSION,
  kind: 'BundleNamespaceMapping',
  plural: 'bundlenamespacemappings',
  scope: 'Namespaced',
  description:
    'Workspaces whose clusters the targets of this workspace may select, too. It needs the right to change Projects.',
  categories: ['fleet'],
  subresources: { status: false },
  fields: {
    bundleSelector: toStructural(
      labelSelector({ description: 'Labels of the bundles; `{}` is all of them. Without it, none.' }),
    ),
    namespaceSelector: toStructural(
      labelSelector({ description: 'Labels of the namespaces; `{}` is all of them. Without it, none.' }),
    ),
  },
  columns: [AGE],
})

const unserved = (kind: string, plural: string, scope: 'Namespaced' | 'Cluster', description: string): Kind =>
  kindOf({
    group: FLEET_GROUP,
    version: VERSION,
    kind,
    plural,
    scope,
    description,
    categories: [],
    subresources: { status: false },
    fields: { spec: toStructural(rawObject({ description: 'As in Rancher Fleet.' })) },
    columns: [AGE],
  })

/** Fleet's Content: files of bundles in etcd. */
export const Content = unserved(
  'Content',
  'contents',
  'Cluster',
  'Files of a bundle of Fleet. The hub keeps content by its digest, and refuses objects of this kind.',
)

/** Fleet's ImageScan. */
export const ImageScan = unserved(
  'ImageScan',
  'imagescans',
  'Namespaced',
  'Search for new tags of an image. Image tags are not written into git, and objects of this kind are refused.',
)
