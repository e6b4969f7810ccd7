/**
 * Compiles a ManifestWorkReplicaSet to one Bundle for each entry of placementRefs, with its Placement and RolloutPlan.
 * A cluster of several entries belongs to the first of them. Pure.
 */
import { compact } from '../../../core/compact.ts'
import { digestOfJson } from '../../../core/crypto/digest.ts'
import { compareText } from '../../../core/text/compare-text.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import { apiVersionOf } from '../../../kinds/meta.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { ALLOW_DROP_ANNOTATION, Placement } from '../../../kinds/native/placement.ts'
import { RolloutPlan } from '../../../kinds/native/rollout-plan.ts'
import type { OcmPlacement } from '../kinds.ts'
import type { OcmRolloutStrategy, RolloutGroup } from '../rollout/next-clusters.ts'
import { compileWork } from '../works/compile-work.ts'
import { OCM_WORK_GROUP } from '../works/kinds.ts'
import type { ManifestWork } from '../works/kinds.ts'
import { ManifestWorkReplicaSet } from './kinds.ts'
import { groupNameOf, planOf, usesGroups } from './rings.ts'

/** Label of what a ManifestWorkReplicaSet made; the same label as in Open Cluster Management, with `NAMESPACE.NAME`. */
export const REPLICA_SET_LABEL = `${OCM_WORK_GROUP}/manifestworkreplicaset`
/** Label with the name of the Placement; the same label as in Open Cluster Management. */
export const PLACEMENT_NAME_LABEL = `${OCM_WORK_GROUP}/placementname`
/** The template without its manifests, which are the content of the Bundle. */
const TEMPLATE_ANNOTATION = 'ocm.flotilla.dev/work-template'
/** The annotation with the digest of the object's inputs: the object is written only when it changes. */
export const COMPILED = 'flotilla.dev/compiled'

const SEPARATOR = '\n---\n'
// A ManifestWork is named NAMESPACE.BUNDLE, with at most 253 characters.
const MAX_NAME = 189
const MAX_LABEL = 63

/** An entry of placementRefs whose Placement is decided. */
export interface PlacedRef {
  readonly name: string
  readonly strategy: OcmRolloutStrategy
  readonly groups: readonly RolloutGroup[]
  readonly tolerations: NonNullable<OcmPlacement['spec']>['tolerations']
  /** Clusters that left the decisions while they cannot be reached, and stay. */
  readonly kept: readonly string[]
}

/** An object that should exist. */
export interface Desired {
  readonly kind: Kind
  readonly object: KubeObject & { readonly spec: unknown }
}

/** What an entry of placementRefs becomes. */
export interface CompiledRef {
  readonly name: string
  readonly bundle: string
  readonly groups: readonly RolloutGroup[]
  readonly clusters: readonly string[]
  /** In the order in which they are written. */
  readonly objects: readonly Desired[]
}

/** What a set becomes, or the sentence that says why not. */
export type SetCompilation =
  | { readonly refs: readonly CompiledRef[]; readonly findings: readonly string[] }
  | { readonly problem: string }

export function compileSet(set: ManifestWorkReplicaSet, placed: readonly PlacedRef[]): SetCompilation {
  const template = set.spec.manifestWorkTemplate
  const read = compileWork({ spec: template })
  if (!read.ok) return { problem: read.problem.replace(/^spec\./, 'spec.manifestWorkTemplate.') }
  const { objects, options, findings } = read.work
  const { workload: _workload, ...rest } = template
  const hasSecrets = objects.some(({ apiVersion, kind }) => apiVersion === 'v1' && kind === 'Secret')
  const taken = new Set<string>()
  const refs: CompiledRef[] = []
  for (const ref of placed) {
    const mapped = planOf(ref.strategy, ref.groups)
    if ('problem' in mapped) return { problem: `spec.placementRefs ${ref.name}: ${mapped.problem}` }
    const bundle = bundleNameOf(set, ref.name)
    const groups = ref.groups.map((group) => ({
      ...group,
      clusters: group.clusters.filter((cluster) => !taken.has(cluster)),
    }))
    const kept = ref.kept.filter((cluster) => !taken.has(cluster))
    const clusters = [...new Set([...groups.flatMap((group) => group.clusters), ...kept])].sort(compareText)
    for (const cluster of clusters) taken.add(cluster)
    const make = (kind: Kind, spec: unknown, annotations: Readonly<Record<string, string>> = {}): Desired =>
      made(set, { kind, name: bundle, placement: ref.name, spec, annotations })
    refs.push({
      name: ref.name,
      bundle,
      groups,
      clusters,
      objects: [
        make(Placement, {
          clusterSelector: {},
          clusters,
          // Taints were judged by the Placement of Open Cluster Management, with its tolerations.
          tolerations: [
            { operator: 'Exists', effect: 'NoSelect' },
            { operator: 'Exists', effect: 'PreferNoSelect' },
            ...(ref.tolerations ?? []),
          ],
          ...(usesGroups(ref.strategy) ? { decisionGroups: { groups: namedGroups(groups) } } : {}),
        }),
        make(RolloutPlan, mapped.plan),
        make(
          Bundle,
          compact({
            style: 'Raw',
            manifests: objects.map((object) => JSON.stringify(object)).join(SEPARATOR),
            secrets: hasSecrets ? ('Allow' as const) : undefined,
            placement: bundle,
            rollout: { plan: bundle },
            ...options,
            reports: 'Objects',
          }),
          { [TEMPLATE_ANNOTATION]: JSON.stringify(rest) },
        ),
      ],
    })
  }
  return { refs, findings }
}

/** At most 64 groups have a name; the clusters of the others are in the last ring. */
function namedGroups(groups: readonly RolloutGroup[]) {
  return groups.slice(0, 64).map((group) => ({ name: groupNameOf(group), clusters: group.clusters }))
}

/** The name of the Bundle of an entry, also of its Placement and its RolloutPlan. */
export function bundleNameOf({ metadata }: Pick<KubeObject, 'metadata'>, placement: string): string {
  return shortened(`${metadata.name}.${placement}`, MAX_NAME)
}

/** The value of the label of a set: Open Cluster Management refuses sets whose value would be too long. */
export function labelOf({ metadata }: Pick<KubeObject, 'metadata'>): string {
  return shortened(`${metadata.namespace ?? ''}.${metadata.name}`, MAX_LABEL)
}

/** The ManifestWork that a Bundle of a set stands for; undefined if another client removed the template. */
export function templateOf({ metadata, spec }: Bundle): ManifestWork['spec'] | undefined {
  const text = metadata.annotations?.[TEMPLATE_ANNOTATION]
  if (text === undefined || spec.manifests === undefined) return undefined
  try {
    const manifests = spec.manifests.split(SEPARATOR).map((one) => JSON.parse(one) as never)
    return { ...(JSON.parse(text) as ManifestWork['spec']), workload: { manifests } }
  } catch {
    // Another client changed the Bundle; the controller writes it again.
    return undefined
  }
}

interface Made {
  readonly kind: Kind
  readonly name: string
  readonly placement: string
  readonly spec: unknown
  readonly annotations: Readonly<Record<string, string>>
}

function made(set: ManifestWorkReplicaSet, { kind, name, placement, spec, annotations: own }: Made): Desired {
  const { metadata } = set
  const token = metadata.annotations?.[ALLOW_DROP_ANNOTATION]
  const annotations = { ...own, ...(token === undefined ? {} : { [ALLOW_DROP_ANNOTATION]: token }) }
  const labels = { [REPLICA_SET_LABEL]: labelOf(set), [PLACEMENT_NAME_LABEL]: shortened(placement, MAX_LABEL) }
  const owner = {
    apiVersion: apiVersionOf(ManifestWorkReplicaSet),
    kind: ManifestWorkReplicaSet.kind,
    name: metadata.name,
    uid: metadata.uid ?? '',
    controller: true,
  }
  return {
    kind,
    object: {
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      metadata: {
        name,
        namespace: metadata.namespace ?? '',
        labels,
        annotations: { ...annotations, [COMPILED]: digestOfJson({ spec, labels, annotations }) },
        ownerReferences: [owner],
      },
      spec,
    },
  }
}

/** A name that is not longer than this; a longer one ends with a digest of the whole. */
function shortened(name: string, most: number): string {
  if (name.length <= most) return name
  return `${name.slice(0, most - 13).replace(/[^a-z0-9]+$/, '')}-${digestOfJson(name).slice(7, 19)}`
}
