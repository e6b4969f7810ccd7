import type { Digest } from '../../core/crypto/digest.ts'
import type { Secret as SecretKind } from '../../kinds/builtin/core.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import type { Override } from '../../kinds/native/override.ts'
import type { Release } from '../../kinds/native/release.ts'
import type { RolloutPlan } from '../../kinds/native/rollout-plan.ts'
import type { Rollout } from '../../kinds/native/rollout.ts'
import type { Source } from '../../kinds/native/source.ts'
import type { VariantsRequest, VariantsResult } from '../../render/bundle/render-variants.ts'
import type { FrozenRecord } from '../../render/helm/frozen-random.ts'
import type { ArtifactTree } from '../../source/artifact.ts'
import type { SelectedCluster } from '../../plan/release/release-content.ts'
import type { RenderQuota } from '../../plan/projects/quotas.ts'
import type { Refusal } from '../../plan/projects/project-of.ts'
import type { ProjectOfNamespace } from '../caches/namespace-projects.ts'
import type { OfferPort } from '../release-gather/release-maker.ts'
import type { ValuesKey } from '../secrets/secret-values.ts'
import type { RuleBook } from './rules/rule-book.ts'

/** A rendering, and the tenant whose turn it takes. */
export interface RenderRequest extends VariantsRequest {
  /** If omitted, the namespace of the Bundle. */
  readonly tenant?: string
}

/** Renders a Bundle, in a thread of its own or in place. */
export type RenderPort = (request: RenderRequest, signal: AbortSignal) => Promise<VariantsResult>

/** The ports of bundle-render; Bundles are `namespace/name`. */
export interface BundleRenderPorts {
  readonly render: RenderPort
  readonly projectOf: ProjectOfNamespace
  readonly renderQuota: RenderQuota
  /** Why the Project refuses the Bundle as a whole. */
  refusalOf(bundle: Bundle): Refusal | undefined
  releasesOf(bundle: string): readonly Release[]
  /** The Rollout of a Release in the namespace of a Bundle. */
  rolloutOf(bundle: Bundle, release: string): Rollout | undefined
  sourceOf(namespace: string, name: string): Source | undefined
  planOf(namespace: string, name: string): RolloutPlan | undefined
  overridesOf(bundle: string): readonly Override[]
  /** The rules on rendered content. */
  ruleBook(): RuleBook
  /** The clusters that a Placement selects; undefined while its decisions are not complete. */
  selectedBy(namespace: string, placement: string, bundle: string): readonly SelectedCluster[] | undefined
  /** Whether a Placement exists that has no decisions yet and is not misconfigured. */
  isDeciding(namespace: string, placement: string): boolean
  /** The entries of a cluster's document. */
  assignedTo(cluster: string): readonly { readonly bundle: string; readonly set: Digest }[]
  /** The highest generation of the Bundle in the documents of all clusters. */
  highestAssigned(bundle: string): number
  /** The list of an artifact's files. */
  treeOf(artifact: Digest): Promise<ArtifactTree | undefined>
  /** The data of a ConfigMap. */
  configMapData(namespace: string, name: string): Promise<Readonly<Record<string, string>> | undefined>
  secret(namespace: string, name: string): Promise<SecretKind | undefined>
  /** Random values that the charts of the Bundle used. */
  frozenOf(bundle: string): Promise<FrozenRecord>
  keepFrozen(bundle: string, frozen: FrozenRecord): Promise<void>
  /** The key of the Bundle's secret values; created when it does not exist. */
  valuesKeyOf(bundle: string): Promise<ValuesKey>
  putBlob(bytes: Uint8Array): Promise<Digest>
  getBlob(digest: Digest): Promise<Uint8Array | undefined>
  /** The maker of Releases. */
  readonly offers: OfferPort
}
