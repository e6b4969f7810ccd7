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
    'A group of clusters, and who may place on it: namespaces with a ClusterSetBinding, which needs the verb `bind` on the set.',
  spec: object({
    clusterSelector: optional(
      labelSelector({
        description:
          'Labels of the members. Absent: clusters whose label `flotilla.dev/cluster-set` is the name of the set.',
      }),
    ),
    access: enumOf(['Bound', 'Open'], {
      default: 'Bound',
      description:
        'Bound: only namespaces with a ClusterSetBinding may place on its members. Open: a grouping and nothing more.',
    }),
  }),
  columns: [{ name: 'Access', type: 'string', jsonPath: '.spec.access' }, AGE],
  examples: [{ metadata: { name: 'stores' }, spec: { clusterSelector: { matchLabels: { tier: 'store' } } } }],
})
export type ClusterSet = ObjectOfKind<typeof ClusterSet>
