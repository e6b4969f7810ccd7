/** The checks of rendered objects, as the hub does them for its conditions and the CLI for files. */
import type { UnknownObject } from '../../kinds/meta.ts'
import { redactSecret } from '../../kinds/redact-secret.ts'
import type { Finding } from './finding.ts'
import { customSchemasOf } from './custom-schemas.ts'
import type { CustomSchemas } from './custom-schemas.ts'
import { lintApi } from './lint-apis.ts'
import type { LintCluster } from './lint-apis.ts'
import { lintContentFields } from './lint-fields.ts'
import { lintImages } from './lint-images.ts'

/** Objects, and the clusters that get them. */
export interface LintContent {
  readonly objects: readonly UnknownObject[]
  readonly clusters: readonly LintCluster[]
}

/** A finding, and the object it is about. */
export interface ObjectFinding {
  readonly found: Finding
  readonly object: UnknownObject
}

/**
 * What is wrong with objects for the clusters that get them; what several contents share is told once, for all their
 * clusters. Custom kinds are checked by the definitions among the objects, and by the definitions of `custom`.
 */
export function lintContents(contents: readonly LintContent[], custom?: CustomSchemas): ObjectFinding[] {
  const own = customSchemasOf(contents.flatMap(({ objects }) => objects))
  const schemas: CustomSchemas = (apiVersion, kind) => own(apiVersion, kind) ?? custom?.(apiVersion, kind)
  const found = new Map<string, ObjectFinding>()
  const served = new Map<string, { readonly object: UnknownObject; readonly clusters: LintCluster[] }>()
  for (const { objects, clusters } of contents) {
    for (const whole of objects) {
      // No sentence may repeat a value of a Secret.
      const object = redactSecret(whole)
      const { namespace = '', name } = object.metadata
      const id = `${object.apiVersion} ${object.kind} ${namespace}/${name}`
      const known = served.get(id)
      if (known) known.clusters.push(...clusters)
      else served.set(id, { object, clusters: [...clusters] })
      for (const one of [...lintContentFields(object, clusters, schemas), ...lintImages(object)]) {
        const key = `${one.check} ${one.message}`
        const before = found.get(key)?.found.severity
        if (before === undefined || (before !== 'error' && one.severity === 'error'))
          found.set(key, { found: one, object })
      }
    }
  }
  const apis = [...served.values()].flatMap(({ object, clusters }) =>
    lintApi(object, clusters).map((one) => ({ found: one, object })),
  )
  return [...apis, ...found.values()]
}
