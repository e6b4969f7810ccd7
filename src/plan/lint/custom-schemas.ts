/** The schemas of custom kinds, read from their CustomResourceDefinitions. */
import { isObject } from '../../core/json.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { StructuralSchema } from '../../kinds/schema/structural.ts'

/** Finds the schema of a custom kind. */
export type CustomSchemas = (apiVersion: string, kind: string) => StructuralSchema | undefined

/** Reads the schemas of all CustomResourceDefinitions among some objects. */
export function customSchemasOf(objects: Iterable<UnknownObject>): CustomSchemas {
  const known = new Map<string, StructuralSchema>()
  for (const object of objects) {
    if (object.kind !== 'CustomResourceDefinition' || !object.apiVersion.startsWith('apiextensions.k8s.io/')) continue
    const spec = isObject(object['spec']) ? object['spec'] : {}
    const kind = isObject(spec['names']) ? spec['names']['kind'] : undefined
    for (const version of Array.isArray(spec['versions']) ? spec['versions'] : []) {
      if (!isObject(version) || !isObject(version['schema'])) continue
      const schema = version['schema']['openAPIV3Schema']
      if (isObject(schema)) known.set(`${String(spec['group'])}/${String(version['name'])} ${String(kind)}`, schema)
    }
  }
  return (apiVersion, kind) => known.get(`${apiVersion} ${kind}`)
}
