// Tested by src/dialects/argo/served/application.sim.test.ts
/** The ports of the controllers of Applications and ApplicationSets. */
import type { ClusterInputs } from '../../../core/cluster-inputs.ts'
import type { Digest } from '../../../core/crypto/digest.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { Context } from '../../../engine/reconciler.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import type { Secret } from '../../../kinds/builtin/core.ts'
import type { Bundle } from '../../../kinds/native/bundle.ts'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import type { Rollout } from '../../../kinds/native/rollout.ts'
import type { Source } from '../../../kinds/native/source.ts'
import type { BundleRecipe } from '../../../render/bundle/recipe.ts'
import type { SharedVariant } from '../../../render/bundle/render-variants.ts'
import type { ObjectSet } from '../../../wire/document/cluster-document.ts'
import type { LazyFiles } from '../../lazy-files.ts'
import type { Application, ApplicationSet, AppProject } from '../kinds.ts'
import type { RepositoryObjects } from '../repositories/repository-secrets.ts'
import type { ArgoSettings } from '../settings/argocd-settings.ts'
import type { ServiceAnswer, ServiceQuestion } from '../scm/ask-service.ts'
import type { createDestinations } from '../clusters/destinations.ts'
import type { NestedObject } from './nested/nested-content.ts'
import type { Owner } from './served-objects.ts'
import type { StateRows } from './state-rows.ts'

/** An object that was made for an owner. */
export interface Made {
  readonly kind: Kind
  readonly object: KubeObject
}

export interface ArgoPorts extends StateRows {
  /** An existing object of one of the compiled kinds. */
  find(kind: Kind, namespace: string, name: string): KubeObject | undefined
  /** All objects that were made for the owner with this uid. */
  madeFor(uid: string): readonly Made[]
  apply(kind: Kind, object: KubeObject, signal: AbortSignal): Promise<void>
  remove(kind: Kind, object: KubeObject, signal: AbortSignal): Promise<void>
  /** Sets annotations of an object. */
  annotate(
    kind: Kind,
    object: KubeObject,
    annotations: Readonly<Record<string, string | null>>,
    signal: AbortSignal,
  ): Promise<void>
  /** Resumes a Rollout, and notes why in an annotation. */
  start(rollout: Rollout, reason: string, signal: AbortSignal): Promise<void>
  /** Pauses a Rollout; the reason of its start stays noted. */
  pause(rollout: Rollout, signal: AbortSignal): Promise<void>
  /** Pauses a Rollout, so that the rules of a sync decide again about its start. */
  stop(rollout: Rollout, signal: AbortSignal): Promise<void>
  /** Sets what happens to the objects of a Bundle when it is deleted. */
  deletePolicy(bundle: Bundle, policy: 'Delete' | 'Orphan', signal: AbortSignal): Promise<void>
  sourceOf(namespace: string, name: string): Source | undefined
  bundleOf(namespace: string, name: string): Bundle | undefined
  /** Rollouts that remove a Bundle. */
  removalsOf(namespace: string, bundle: string): readonly Rollout[]
  /** The repository Secrets of Argo CD in a namespace, and the ConfigMaps that belong to them. */
  repositoryObjects(namespace: string): RepositoryObjects
  /** Writes the credentials of a Source, if they are new or different; the Sources that use them are fetched again. */
  writeCredentials(secret: Secret, context: Pick<Context, 'signal' | 'clock'>): Promise<void>
  /** The settings of ConfigMap `argocd-cm`. */
  settings(): ArgoSettings
  isOnline(cluster: string): boolean
  /** Renders a Bundle as the hub does. */
  render(recipe: BundleRecipe, cluster: ClusterInputs, signal: AbortSignal): Promise<SharedVariant | undefined>
  /** The Applications and ApplicationSets from the content of an Application. */
  nestedIn(namespace: string, name: string): readonly NestedObject[]
  /** An Application or ApplicationSet of the hub. */
  findNested(kind: Kind, namespace: string, name: string): KubeObject | undefined
  /** Creates the object, or replaces the one that has its resource version. */
  writeNested(kind: Kind, object: KubeObject, signal: AbortSignal): Promise<void>
  removeNested(kind: Kind, object: KubeObject, signal: AbortSignal): Promise<void>
  filesOf(artifact: Digest): Promise<LazyFiles>
  /** A stored set; undefined when it is not stored. */
  setOf(digest: Digest): Promise<ObjectSet | undefined>
  /** The AppProject of this name that counts for a namespace, and its namespace. */
  projectOf(namespace: string, name: string): AppProject | undefined
  /** The Applications of the set with this uid. */
  applicationsOf(uid: string): readonly Application[]
  /** The set of an Application that a set made. */
  setFor(application: Application): ApplicationSet | undefined
  /** The ApplicationSet that an Application belongs to; undefined when none does, or when it is gone. */
  setOwnerOf(namespace: string, application: string): { readonly name: string; readonly uid: string } | undefined
  applyApplication(application: KubeObject, signal: AbortSignal): Promise<void>
  removeApplication(application: Application, signal: AbortSignal): Promise<void>
  /** Accepted Clusters that Placements of a namespace may select, or why they may select none. */
  clusters(namespace: string): readonly Cluster[] | { readonly refusal: string }
  /** Names of AppProjects that count for a namespace. */
  projects(namespace: string): ReadonlySet<string>
  /** ConfigMaps and decisions that a generator names by ConfigMap. */
  decisions(namespace: string, configMaps: readonly string[], signal: AbortSignal): Promise<readonly JsonObject[]>
  /** Asks a git service for a generator of a set in a namespace; an error is an answer. */
  askService(namespace: string, question: ServiceQuestion, signal: AbortSignal): Promise<ServiceAnswer>
  /** Whether a Bundle of the namespace uses a Source. */
  isUsed(namespace: string, source: string): boolean
  destinations(): ReturnType<typeof createDestinations>
  /** Whether an object of the namespace with this name belongs to another owner. */
  isTaken(kind: Kind, owner: Owner, name: string): boolean
}

/** The field manager of the dialect. */
export const MANAGER = 'flotilla-argo'

/** The annotation of a Rollout that the dialect started, with the reason. */
export const STARTED = 'argocd.argoproj.io/started'
