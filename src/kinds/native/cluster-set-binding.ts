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
    'Lets the Placements of a namespace select members of a ClusterSet. Who makes one needs the verb `bind` on that set.',
  spec: object({
    clusterSet: name({ immutable: true, description: 'The ClusterSet.' }),
  }),
  columns: [{ name: 'Cluster Set', type: 'string', jsonPath: '.spec.clusterSet' }, AGE],
  examples: [{ metadata: { name: 'stores', namespace: 'retail' }, spec: { clusterSet: 'stores' } }],
})
export type ClusterSetBinding = ObjectOfKind<typeof ClusterSetBinding>
