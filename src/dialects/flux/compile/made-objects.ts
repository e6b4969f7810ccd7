/** Objects of flotilla.dev that are made for an object of Flux: their names, labels and owners. */
import { digestOfJson } from '../../../core/crypto/digest.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import { apiVersionOf } from '../../../kinds/meta.ts'
import type { KubeObject, ResourceType } from '../../../kinds/meta.ts'

/** The annotation with the digest of the object's inputs: the object is written only when it changes. */
export const COMPILED = 'flotilla.dev/compiled'

const MAX_NAME = 253
const MAX_LABEL = 63

/** An object that should exist. */
export interface Desired {
  readonly kind: Kind
  readonly object: KubeObject & { spec: unknown }
}

/** The name of what is made for an object: `kustomization-apps`; objects of two kinds can have one name. */
export function madeName(kind: string, name: string): string {
  return shortened(`${kind.toLowerCase()}-${name}`, MAX_NAME)
}

/** Makes an object that belongs to an object of Flux. */
export function madeFor(
  owner: KubeObject,
  ownerKind: ResourceType<KubeObject>,
  {
    kind,
    annotations = {},
    spec,
  }: { readonly kind: Kind; readonly annotations?: Readonly<Record<string, string>>; readonly spec: unknown },
): Desired {
  const { name, namespace = '', uid = '' } = owner.metadata
  const labels = { [`${ownerKind.group}/name`]: shortened(name, MAX_LABEL) }
  return {
    kind,
    object: {
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      metadata: {
        name: madeName(ownerKind.kind, name),
        namespace,
        labels,
        annotations: { ...annotations, [COMPILED]: digestOfJson({ spec, labels, annotations }) },
        ownerReferences: [{ apiVersion: apiVersionOf(ownerKind), kind: ownerKind.kind, name, uid, controller: true }],
      },
      spec,
    },
  }
}

/** Whether an object was made for this object, and not for an earlier one of the same name. */
export function isMadeFor(object: KubeObject, owner: KubeObject): boolean {
  return (object.metadata.ownerReferences ?? []).some(({ uid }) => uid === owner.metadata.uid)
}

/** A name that is not longer than this; a longer one ends with a digest of the whole. */
function shortened(name: string, most: number): string {
  if (name.length <= most) return name
  return `${name.slice(0, most - 13).replace(/[^a-z0-9]+$/, '')}-${digestOfJson(name).slice(7, 19)}`
}
