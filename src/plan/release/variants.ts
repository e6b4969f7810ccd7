/** Which content of a Release is a cluster's: each variant says what its render read, and the cluster that has the same has it. */
import { inputAt, matchesReads } from '../../core/cluster-inputs.ts'
import type { ClusterInputs, Reads } from '../../core/cluster-inputs.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import { pickBundleOptions } from '../../kinds/fields/bundle-options.ts'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'

/** One distinct content of a bundle. */
export interface ReleaseVariant {
  /** What was read, and what was there. */
  readonly when: Readonly<Record<string, string>>
  /** What was looked for and not there. */
  readonly absent?: readonly string[] | undefined
  readonly set?: Digest | undefined
  /** It cannot be rendered, and why. */
  readonly problem?: string | undefined
  /** The bundle is not for these clusters; the layer that says so. */
  readonly skip?: string | undefined
}

/** What a Release has for a cluster. */
export type ClusterContent =
  | { readonly kind: 'Set'; readonly set: Digest }
  | { readonly kind: 'Problem'; readonly problem: string }
  | { readonly kind: 'Skip'; readonly by: string }
  | { readonly kind: 'Unknown' }

/** How a bundle is applied where these of its variants count. */
export function optionsFor(spec: Bundle['spec'], variants: readonly string[]): BundleOptions | undefined {
  const own = (spec.variants ?? [])
    .filter(({ name }) => variants.includes(name))
    .flatMap(({ options }) => options ?? [])
  return own.length === 0
    ? pickBundleOptions(spec)
    : pickBundleOptions(Object.assign({}, pickBundleOptions(spec), ...own))
}

/** What templates may know of a cluster. */
export function clusterInputsOf({ metadata, spec, status }: Cluster): ClusterInputs {
  const claims = Object.fromEntries((status?.claims ?? []).map(({ name, value }) => [name, value]))
  return {
    name: metadata.name,
    labels: metadata.labels ?? {},
    annotations: metadata.annotations ?? {},
    claims,
    values: spec.values ?? {},
    ...(status?.kubernetesVersion === undefined ? {} : { kubeVersion: status.kubernetesVersion }),
  }
}

/** A cluster's content of a bundle of a Release; a Release without variants has one for everybody. */
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

/** The objects of a cluster's content, where it has any. */
export function setFor(...of: Parameters<typeof contentFor>): Digest | undefined {
  const content = contentFor(...of)
  return content.kind === 'Set' ? content.set : undefined
}

function isFor({ when, absent }: ReleaseVariant, cluster: ClusterInputs): boolean {
  return matchesReads(cluster, when) && (absent ?? []).every((path) => inputAt(cluster, path) === null)
}

/** What a render read, as a Release writes it down. */
export function variantKey(reads: Reads): Pick<ReleaseVariant, 'when' | 'absent'> {
  const entries = Object.entries(reads)
  const absent = entries.filter(([, value]) => value === null).map(([path]) => path)
  const when = Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== null))
  return { when, ...(absent.length === 0 ? {} : { absent }) }
}
