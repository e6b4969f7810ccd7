import { AGE, defineKind } from '../define-kind.ts'
import type { ObjectOfKind } from '../define-kind.ts'
import { enumOf, labelSelector, object, optional } from '../schema/schema-builders.ts'

/** A group of clusters. */
export const ClusterSet = defineKind({
  kind: 'ClusterSet',
  plural: 'clustersets',
  scope: 'Cluster',
  shortNames: ['fcs'],
  description:
    'Group of clusters. Namespaces need a ClusterSetBinding to place Bundles on the clusters of a set with `access: Bound`.',
  spec: object(
    {
      clusterSelector: optional(
        labelSelector({
          description:
            'Labels of the members. If omitted, the members are the clusters whose label `flotilla.dev/cluster-set` is the name of the set.',
        }),
      ),
      access: enumOf(['Bound', 'Open'], {
        default: 'Bound',
        description:
          'Access to the members. `Bound`: only namespaces with a ClusterSetBinding can place Bundles on them. `Open`: the set is only a group and restricts nothing. Defaults to `Bound`.',
      }),
    },
    { description: 'Members and access of the set.' },
  ),
  columns: [{ name: 'Access', type: 'string', jsonPath: '.spec.access' }, AGE],
  examples: [{ metadata: { name: 'stores' }, spec: { clusterSelector: { matchLabels: { tier: 'store' } } } }],
})
export type ClusterSet = ObjectOfKind<typeof ClusterSet>
