/** The three objects of an import: a Source, a Placement and a Bundle. */
import { compact } from '../../../core/compact.ts'
import type { JsonObject } from '../../../core/json.ts'
import { GROUP } from '../../../kinds/define-kind.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'

/** The imported content and its clusters. */
export interface ImportRequest {
  readonly name: string
  readonly namespace: string
  /** The spec of the Source. */
  readonly source: JsonObject
  /** The directory of the content below the Source. */
  readonly path?: string | undefined
  readonly helm?: JsonObject | undefined
  /** `matchExpressions` over the labels of clusters. Empty selects all clusters. */
  readonly clusters: readonly object[]
}

/** The objects of an import, each under the same name. */
export function importedBundle({ name, namespace, source, path, helm, clusters }: ImportRequest): UnknownObject[] {
  const object = (kind: string, spec: object): UnknownObject => ({
    apiVersion: `${GROUP}/v1alpha1`,
    kind,
    metadata: { name, namespace },
    spec,
  })
  return [
    object('Source', source),
    object('Placement', { clusterSelector: clusters.length === 0 ? {} : { matchExpressions: clusters } }),
    object(
      'Bundle',
      compact({
        placement: name,
        source: compact({ name, path }),
        helm: helm === undefined || Object.keys(helm).length === 0 ? undefined : helm,
      }),
    ),
  ]
}
