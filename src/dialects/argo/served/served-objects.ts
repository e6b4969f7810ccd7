// Tested by src/dialects/argo/served/application.sim.test.ts
/** The objects that the hub makes for an Application or an ApplicationSet. */
import { digestOfJson } from '../../../core/crypto/digest.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import { apiVersionOf } from '../../../kinds/meta.ts'
import type { KubeObject, OwnerReference } from '../../../kinds/meta.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { Placement } from '../../../kinds/native/placement.ts'
import { RolloutPlan } from '../../../kinds/native/rollout-plan.ts'
import { Source } from '../../../kinds/native/source.ts'
import { ARGO_GROUP } from '../kinds.ts'

/** The annotation with the digest of the object's inputs: the object is written only when it changes. */
export const COMPILED = 'flotilla.dev/compiled'
/** The order of writes: an object that another object names comes first. */
export const MADE_KINDS: readonly Kind[] = [Source, Placement, RolloutPlan, Bundle]

/** An object that should exist. */
export interface Desired {
  readonly kind: Kind
  readonly object: KubeObject & { readonly spec: unknown }
}

/** An Application or an ApplicationSet. */
export type Owner = KubeObject

/** The object of an owner. */
export function ownedObject(
  owner: Owner,
  kind: Kind,
  {
    name,
    spec,
    labels = {},
    annotations = {},
  }: {
    readonly name: string
    readonly spec: unknown
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  },
): Desired {
  const compiled = digestOfJson({ spec, labels, annotations })
  return {
    kind,
    object: {
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      metadata: {
        name,
        namespace: owner.metadata.namespace ?? '',
        ...(Object.keys(labels).length === 0 ? {} : { labels }),
        annotations: { ...annotations, [COMPILED]: compiled },
        ownerReferences: [ownerReference(owner)],
      },
      spec,
    },
  }
}

function ownerReference({ apiVersion, kind, metadata }: Owner): OwnerReference {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '', controller: true }
}

/** Whether an object was made for this owner, and not for an earlier one of the same name. */
export function isOwnedBy({ metadata }: KubeObject, owner: Owner): boolean {
  return (metadata.ownerReferences ?? []).some(({ uid }) => uid === owner.metadata.uid)
}

/** The owner of an object among the kinds of Argo CD: kind and key; undefined for other objects. */
export function argoOwnerOf({ metadata }: KubeObject): { readonly kind: string; readonly key: string } | undefined {
  const owner = (metadata.ownerReferences ?? []).find(({ apiVersion }) => apiVersion.startsWith(`${ARGO_GROUP}/`))
  return owner && { kind: owner.kind, key: `${metadata.namespace ?? ''}/${owner.name}` }
}
