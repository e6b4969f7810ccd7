/** What Flux and Argo CD let their users add to a kustomization without changing its files. */
import type { ImageChange, Kustomization, LabelRule, Patch } from './kustomization.ts'

/** Fields that are added to the kustomization where a build starts. */
export interface Additions {
  readonly patches?: readonly Patch[]
  readonly images?: readonly ImageChange[]
  readonly components?: readonly string[]
  readonly namePrefix?: string
  readonly nameSuffix?: string
  /** Wins over the kustomization's own namespace. */
  readonly targetNamespace?: string
  readonly labels?: readonly LabelRule[]
  readonly commonLabels?: ReadonlyMap<string, string>
  readonly commonAnnotations?: ReadonlyMap<string, string>
  readonly replicas?: Kustomization['replicas']
  /** Put on the finished objects themselves, never on their templates or selectors. */
  readonly commonMetadata?: {
    readonly labels?: ReadonlyMap<string, string>
    readonly annotations?: ReadonlyMap<string, string>
  }
}

/** A kustomization with the additions; an image that it already changes is changed as the addition says. */
export function withAdditions(own: Kustomization, additions: Additions): Kustomization {
  const images = additions.images ?? []
  const replaced = new Set(images.map(({ name }) => name))
  return {
    ...own,
    patches: [...own.patches, ...(additions.patches ?? [])],
    images: [...own.images.filter(({ name }) => !replaced.has(name)), ...images],
    components: [...own.components, ...(additions.components ?? [])],
    labels: [...own.labels, ...(additions.labels ?? [])],
    replicas: [...own.replicas, ...(additions.replicas ?? [])],
    namePrefix: additions.namePrefix || own.namePrefix,
    nameSuffix: additions.nameSuffix || own.nameSuffix,
    namespace: additions.targetNamespace || own.namespace,
    commonLabels: new Map([...own.commonLabels, ...(additions.commonLabels ?? [])]),
    commonAnnotations: new Map([...own.commonAnnotations, ...(additions.commonAnnotations ?? [])]),
  }
}
