/** A cluster's content of a Release: each variant has the inputs that its render read, and matches equal clusters. */
import { inputAt, matchesReads } from '../../core/cluster-inputs.ts'
import type { ClusterInputs, Reads } from '../../core/cluster-inputs.ts'
import { compact } from '../../core/compact.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import { pickBundleOptions } from '../../kinds/fields/bundle-options.ts'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'

/** A distinct content of a bundle. */
export interface ReleaseVariant {
  /** Inputs that the render read, with their values. */
  readonly when: Readonly<Record<string, string>>
  /** Inputs that the render looked for and did not find. */
  readonly absent?: readonly string[] | undefined
  readonly set?: Digest | undefined
  /** Why the content could not be rendered. */
  readonly problem?: string | undefined
  /** Name of the Bundle variant that excludes these clusters. */
  readonly skip?: string | undefined
}

/** The content of a Release for a cluster. */
export type ClusterContent =
  | { readonly kind: 'Set'; readonly set: Digest }
  | { readonly kind: 'Problem'; readonly problem: string }
  | { readonly kind: 'Skip'; readonly by: string }
  | { readonly kind: 'Unknown' }

/** The options of a bundle on a cluster that matches these Bundle variants. */
export function optionsFor(spec: Bundle['spec'], variants: readonly string[]): BundleOptions | undefined {
  const own = (spec.variants ?? [])
    .filter(({ name }) => variants.includes(name))
    .flatMap(({ options }) => options ?? [])
  return own.length === 0
    ? pickBundleOptions(spec)
    : pickBundleOptions(Object.assign({}, pickBundleOptions(spec), ...own))
}

/** The inputs of a cluster that templates can read. */
export function clusterInputsOf({ metadata, spec, status }: Cluster): ClusterInputs {
  const claims = Object.fromEntries((status?.claims ?? []).map(({ name, value }) => [name, value]))
  return compact({
    name: metadata.name,
    id: spec.id === '' ? undefined : spec.id,
    labels: metadata.labels ?? {},
    annotations: metadata.annotations ?? {},
    claims,
    values: spec.values ?? {},
    kubeVersion: status?.kubernetesVersion === undefined ? undefined : status.kubernetesVersion,
  })
}

/** A cluster's content of a bundle of a Release; a Release without variants has one content for all clusters. */
export function contentFor(
  bundle: { readonly set: Digest; readonly variants?: readonly ReleaseVariant[] | undefined },
  cluster: ClusterInputs | undefined,
): ClusterContent {
  if (!bundle.variants || bundle.variants.length === 0) return { kind: 'Set', set: bundle.set }
  const variant = cluster && bundle.variants.find((one) => isFor(one, cluster))
  if (!variant) return { kind: 'Unknown' }
  if (variant.skip !== undefined) return { kind: 'Skip', by: variant.skip }
  return variant.set === undefined
    ? { kind: 'Problem', problem: variant.problem ?? '' }
    : { kind: 'Set', set: variant.set }
}

/** The set of a cluster's content, if it has one. */
export function setFor(...of: Parameters<typeof contentFor>): Digest | undefined {
  const content = contentFor(...of)
  return content.kind === 'Set' ? content.set : undefined
}

function isFor({ when, absent }: ReleaseVariant, cluster: ClusterInputs): boolean {
  return matchesReads(cluster, when) && (absent ?? []).every((path) => inputAt(cluster, path) === null)
}

/** The inputs that a render read, as a Release records them. */
export function variantKey(reads: Reads): Pick<ReleaseVariant, 'when' | 'absent'> {
  const entries = Object.entries(reads)
  const absent = entries.filter(([, value]) => value === null).map(([path]) => path)
  const when = Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== null))
  return compact({ when, absent: absent.length === 0 ? undefined : absent })
}
