// Tested by src/dialects/argo/served/application.sim.test.ts
/** The objects that the hub makes for an Application or an ApplicationSet. */
import { compact } from '../../../core/compact.ts'
import { digestOfJson } from '../../../core/crypto/digest.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import { apiVersionOf } from '../../../kinds/meta.ts'
import type { KubeObject, OwnerReference } from '../../../kinds/meta.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { Placement } from '../../../kinds/native/placement.ts'
import { RolloutPlan } from '../../../kinds/native/rollout-plan.ts'
import { Source } from '../../../kinds/native/source.ts'
import { COMPILED } from '../annotations.ts'
import { ARGO_GROUP } from '../kinds.ts'

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
  }: {
    readonly name: string
    readonly spec: unknown
    readonly labels?: Readonly<Record<string, string>>
  },
): Desired {
  const compiled = digestOfJson({ spec, labels })
  return {
    kind,
    object: {
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      metadata: {
        name,
        namespace: owner.metadata.namespace ?? '',
        ...compact({ labels: Object.keys(labels).length === 0 ? undefined : labels }),
        annotations: { [COMPILED]: compiled },
        ownerReferences: [ownerReference(owner)],
      },
      spec,
    },
  }
}

function ownerReference({ apiVersion, kind, metadata }: Owner): OwnerReference {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '', controller: true }
}

/** The owner of the Sources of an object: Applications of a set share the Sources of the set. */
export function sourceOwnerOf(owner: Owner): Owner {
  const { ownerReferences = [], namespace = '' } = owner.metadata
  const set = ownerReferences.find(({ apiVersion, kind }) => isOfArgo(apiVersion) && kind === 'ApplicationSet')
  if (!set) return owner
  const { apiVersion, kind, name, uid } = set
  return { apiVersion, kind, metadata: { name, namespace, uid } }
}

function isOfArgo(apiVersion: string): boolean {
  return apiVersion.startsWith(`${ARGO_GROUP}/`)
}

/** Whether an object was made for this owner, and not for an earlier one of the same name. */
export function isOwnedBy({ metadata }: KubeObject, owner: Owner): boolean {
  return (metadata.ownerReferences ?? []).some(({ uid }) => uid === owner.metadata.uid)
}

/** The owner of an object among the kinds of Argo CD: kind and key; undefined for other objects. */
export function argoOwnerOf({ metadata }: KubeObject): { readonly kind: string; readonly key: string } | undefined {
  const owner = (metadata.ownerReferences ?? []).find(({ apiVersion }) => isOfArgo(apiVersion))
  return owner && { kind: owner.kind, key: `${metadata.namespace ?? ''}/${owner.name}` }
}
