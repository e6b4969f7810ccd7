// Tested by src/dialects/flux/controllers/kustomization.sim.test.ts.
import type { Digest } from '../../../core/crypto/digest.ts'
import type { KeyedThrottle } from '../../../engine/keyed-throttle.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import type { Condition, KubeObject } from '../../../kinds/meta.ts'
import type { Bundle } from '../../../kinds/native/bundle.ts'
import type { Source } from '../../../kinds/native/source.ts'
import type { BundleRecipe } from '../../../render/bundle/recipe.ts'
import type { SharedVariant } from '../../../render/bundle/render-variants.ts'
import type { DeletionPolicies } from '../compile/compile-kustomization.ts'
import type { Desired } from '../compile/made-objects.ts'
import type { GitRepository, Kustomization } from '../kinds.ts'
import type { HelmRelease } from '../release/release-kind.ts'
import type { Bucket, HelmChart, HelmRepository, OCIRepository } from '../source-kinds.ts'
import type { RolloutCounts } from '../status/kustomization-status.ts'

/** Writing the objects that are made for objects of Flux. */
export interface MadePorts {
  /** An existing object of one of the compiled kinds. */
  find(kind: Kind, namespace: string, name: string): KubeObject | undefined
  apply(desired: Desired, signal: AbortSignal): Promise<void>
  /** Writes the spec of an object that exists, without the fields that other clients added. */
  replaceSpec(desired: Desired, signal: AbortSignal): Promise<KubeObject>
  /** The generation of each object after its spec was replaced. */
  readonly replaced: Map<string, number>
}

/** The ports of controllers that follow a Source. */
export interface SourcePorts extends MadePorts {
  sourceOf(namespace: string, name: string): Source | undefined
}

/** The name and version of a chart, or why it cannot be read. */
export type ChartFacts =
  | { readonly name: string; readonly version: string; readonly appVersion: string }
  | { readonly problem: string }

/** The ports of the HelmChart controller. */
export interface HelmChartPorts extends SourcePorts {
  helmRepositoryOf(namespace: string, name: string): HelmRepository | undefined
  repositoryOf(namespace: string, name: string): GitRepository | undefined
  /** Reads the Chart.yaml of a directory of an artifact. */
  chartIn(artifact: Digest, path: string): Promise<ChartFacts>
}

/** The ports of the GitRepository controller. */
export interface GitRepositoryPorts extends SourcePorts {
  repositoryOf(namespace: string, name: string): GitRepository | undefined
  /** The paths of an artifact's files. */
  pathsIn(artifact: Digest): Promise<readonly string[]>
  isCluster(name: string): boolean
}

/** Ports of what keeps the deletion policy of a Bundle. */
export interface DeletionPorts {
  bundleOf(namespace: string, name: string): Bundle | undefined
  /** Changes the policies of a Bundle and nothing else; a Bundle that is gone stays gone. */
  setDeletionPolicies(bundle: Bundle, policies: DeletionPolicies, signal: AbortSignal): Promise<void>
}

/** Ports of what finds the clusters of an object. */
export interface TargetPorts {
  /** The value of an annotation of a Namespace. */
  namespaceAnnotation(namespace: string, key: string): string | undefined
  /** The Cluster that is registered with the kubeconfig in a Secret. */
  clusterOfSecret(namespace: string, secret: string): string | undefined
}

/** Ports of what reads variables and values. */
export interface DataPorts {
  configMapData(
    namespace: string,
    name: string,
    signal: AbortSignal,
  ): Promise<Readonly<Record<string, string>> | undefined>
  hasSecret(namespace: string, name: string, signal: AbortSignal): Promise<boolean>
}

/** Ports of what shows the state of a Bundle. */
export interface DeliveryPorts {
  /** The counts of the newest Release of a Bundle. */
  countsOf(bundle: Bundle): RolloutCounts | undefined
  /** The failure that the newest Rollout of a Bundle reports. */
  failureOf(bundle: Bundle): string | undefined
  /** The objects of a Bundle as an inventory of Flux; undefined while clusters have different objects. */
  inventoryOf(bundle: Bundle): Promise<{ id: string; v: string }[] | undefined>
  /** Limits how often counts are written. */
  readonly statusThrottle: KeyedThrottle
}

/** The ports of the HelmRelease controller. */
export interface HelmReleasePorts extends SourcePorts, DeletionPorts, TargetPorts, DataPorts, DeliveryPorts {
  helmReleaseOf(namespace: string, name: string): HelmRelease | undefined
  helmChartOf(namespace: string, name: string): HelmChart | undefined
  ociRepositoryOf(namespace: string, name: string): OCIRepository | undefined
  repositoryOf(namespace: string, name: string): GitRepository | undefined
  chartIn(artifact: Digest, path: string): Promise<ChartFacts>
}

/** An object of Flux inside a build. */
export type NestedObject = KubeObject & {
  readonly spec?: object
  readonly status?: { readonly conditions?: Condition[]; readonly observedGeneration?: number }
}

/** The ports of the Kustomization controller. */
export interface KustomizationPorts extends SourcePorts, DeletionPorts, TargetPorts, DataPorts, DeliveryPorts {
  bucketOf(namespace: string, name: string): Bucket | undefined
  ociRepositoryOf(namespace: string, name: string): OCIRepository | undefined
  repositoryOf(namespace: string, name: string): GitRepository | undefined
  kustomizationOf(namespace: string, name: string): Kustomization | undefined
  /** The objects of Flux that the build of a Kustomization yielded. */
  nestedIn(namespace: string, name: string): readonly NestedObject[]
  /** Renders a Bundle as the hub does; the cluster is one without facts. */
  render(recipe: BundleRecipe, signal: AbortSignal): Promise<SharedVariant | undefined>
}
