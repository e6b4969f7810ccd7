/**
 * A Cluster of Fleet and its Cluster of flotilla.dev: one cluster in two places. Both are labelled by users. The last
 * common labels are kept, so that a label that was changed in one place changes in the other one.
 */
import { isObject } from '../../../core/json.ts'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import type { FleetCluster } from '../kinds.ts'
import { WORKSPACE_LABEL } from './placement.ts'

export type Labels = Readonly<Record<string, string>>

/** The annotation of a Fleet Cluster with the labels that both had last, as JSON. */
export const COMMON_LABELS = 'fleet.flotilla.dev/labels'
/** The reason of a hold that `paused` made. */
const PAUSED = 'paused in Fleet'
const SECRET_KEY = 'value'

/** `workspace/name`, the alias that ties the two together. */
export function faceAlias({ metadata }: Pick<FleetCluster, 'metadata'>): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`
}

/** The labels after a change in one of two places; where both changed one label, the Fleet Cluster counts. */
export function mergeLabels(common: Labels, face: Labels, own: Labels): Record<string, string> {
  const merged: Record<string, string> = {}
  for (const key of new Set([...Object.keys(face), ...Object.keys(own)])) {
    const value = face[key] === common[key] ? own[key] : face[key]
    if (value !== undefined) merged[key] = value
  }
  return merged
}

/** The labels of a Cluster that its Fleet Cluster has, too. */
export function sharedLabels(labels: Labels = {}): Record<string, string> {
  const { [WORKSPACE_LABEL]: _, ...shared } = labels
  return shared
}

export function commonLabels({ metadata }: FleetCluster): Labels {
  try {
    const read: unknown = JSON.parse(metadata.annotations?.[COMMON_LABELS] ?? '{}')
    return isObject(read) ? (read as Labels) : {}
  } catch {
    return {}
  }
}

/** Whether an agent in the cluster has joined, so that the hub runs none. */
export function hasOwnAgent({ spec }: Pick<Cluster, 'spec'>): boolean {
  return spec.joinToken !== undefined && spec.kubeconfigSecret === undefined
}

/** The Cluster of flotilla.dev as its Fleet Cluster wants it; `own` is the present one. */
export function desiredCluster(
  face: FleetCluster,
  own: Cluster | undefined,
  { name, labels, now }: { readonly name: string; readonly labels: Labels; readonly now: string },
): Cluster {
  const namespace = face.metadata.namespace ?? ''
  const { kubeConfigSecret, paused, templateValues } = face.spec ?? {}
  const others = (own?.spec.aliases ?? []).filter(
    (alias) => alias.dialect !== 'fleet' || alias.name !== faceAlias(face),
  )
  const { hold, kubeconfigSecret, ...spec } = own?.spec ?? ({ accepted: true } as Cluster['spec'])
  const isOwnHold = hold?.reason === PAUSED
  const kept = isOwnHold && !paused ? undefined : hold
  const secret =
    kubeConfigSecret && !(own && hasOwnAgent(own))
      ? { namespace, name: kubeConfigSecret, key: SECRET_KEY }
      : kubeconfigSecret
  return {
    apiVersion: 'flotilla.dev/v1alpha1',
    kind: 'Cluster',
    metadata: { ...own?.metadata, name, labels: { ...labels, [WORKSPACE_LABEL]: namespace } },
    spec: {
      ...spec,
      ...(secret && { kubeconfigSecret: secret }),
      ...(paused && !hold ? { hold: { reason: PAUSED, since: now } } : kept && { hold: kept }),
      ...(isObject(templateValues) && { values: templateValues }),
      aliases: [...others, { dialect: 'fleet', name: faceAlias(face) }],
    },
  }
}
