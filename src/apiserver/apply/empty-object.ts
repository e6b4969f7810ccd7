import { jsonClone } from '../../core/json.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import { apiVersionOf } from '../../kinds/meta.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { isCustom } from '../server/registry.ts'

/**
 * The base that a new object is compared with. Custom kinds start empty. Built-in kinds are Go structs in a
 * kube-apiserver, whose struct fields always exist, so that no manager comes to own `spec` itself.
 */
export function emptyObject(kind: Kind): UnknownObject {
  const object: UnknownObject = {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    metadata: {} as UnknownObject['metadata'],
  }
  if (isCustom(kind)) {
    const { metadata: _metadata, ...bare } = object
    return bare as UnknownObject
  }
  return { ...object, ...jsonClone(kind.blank ?? {}) }
}
