import { AGE, defineKind } from '../define-kind.ts'
import type { ObjectOfKind } from '../define-kind.ts'
import { name, object } from '../schema/schema-builders.ts'

/** Lets a namespace place on a set. */
export const ClusterSetBinding = defineKind({
  kind: 'ClusterSetBinding',
  plural: 'clustersetbindings',
  scope: 'Namespaced',
  shortNames: ['fcsb'],
  description:
    'Permission for the Placements of a namespace to select the clusters of a ClusterSet. Creating a binding requires the verb `bind` on the set.',
  spec: object(
    {
      clusterSet: name({ immutable: true, description: 'Name of the ClusterSet.' }),
    },
    { description: 'Binding of a ClusterSet to the namespace.' },
  ),
  columns: [{ name: 'Cluster Set', type: 'string', jsonPath: '.spec.clusterSet' }, AGE],
  examples: [{ metadata: { name: 'stores', namespace: 'retail' }, spec: { clusterSet: 'stores' } }],
})
export type ClusterSetBinding = ObjectOfKind<typeof ClusterSetBinding>
