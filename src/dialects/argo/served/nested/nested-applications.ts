// Tested by src/dialects/argo/served/nested/nested.sim.test.ts
/** Renders what an Application for the local cluster has for the hub, and writes it. */
import type { ClusterInputs } from '../../../../core/cluster-inputs.ts'
import { compact } from '../../../../core/compact.ts'
import { findCondition } from '../../../../core/conditions.ts'
import { digestOfJson } from '../../../../core/crypto/digest.ts'
import type { Digest } from '../../../../core/crypto/digest.ts'
import { isApiError } from '../../../../core/errors.ts'
import type { Context } from '../../../../engine/reconciler.ts'
import type { Kind } from '../../../../kinds/define-kind.ts'
import { keyOf } from '../../../../kinds/meta.ts'
import type { KubeObject, UnknownObject } from '../../../../kinds/meta.ts'
import type { Bundle } from '../../../../kinds/native/bundle.ts'
import type { BundleRecipe } from '../../../../render/bundle/recipe.ts'
import { describeProblems } from '../../../../render/render-result.ts'
import { isAutomated } from '../../application.ts'
import type { Application } from '../../kinds.ts'
import { isRunning } from '../operations/sync-overrides.ts'
import type { ArgoPorts } from '../ports.ts'
import { refusedWrite } from '../write-objects.ts'
import { decideNested, levelOf, nestedContent } from './nested-content.ts'
import type { NestedContent, NestedDecision, NestedObject } from './nested-content.ts'

const NO_CLUSTER: ClusterInputs = { name: '', labels: {}, annotations: {}, claims: {}, values: {} }

/** The content of an Application, and the digest of what it was rendered from. */
export interface RenderedNested extends NestedContent {
  readonly digest: Digest
}

/**
 * Renders the Bundles of an Application, unless `before` is of the same inputs. On a problem, nothing is known of the
 * content; the empty problem is that a repository is being fetched.
 */
export async function renderNested(
  parent: Application,
  bundles: readonly Bundle[],
  {
    before,
    cluster = NO_CLUSTER,
    project,
    ports,
    signal,
  }: {
    readonly before: RenderedNested | undefined
    readonly cluster: ClusterInputs | undefined
    /** The AppProject that Applications of the content must have, or ANY_PROJECT. */
    readonly project: string
    readonly ports: Pick<ArgoPorts, 'render' | 'sourceOf'>
    readonly signal: AbortSignal
  },
): Promise<RenderedNested | { readonly problem: string }> {
  const { name, labels = {}, namespace = '' } = parent.metadata
  const sources = bundles
    .flatMap(({ spec: { source } }) => [source?.name ?? '', ...(source?.include ?? []).map((one) => one.source)])
    .map((one) => ports.sourceOf(namespace, one))
  const missing = sources.filter((source) => source?.status?.artifact === undefined)
  if (missing.length > 0) {
    const ready = findCondition(missing[0]?.status?.conditions, 'Ready')
    const isFailed = ready?.status === 'False' && ready.reason !== 'Fetching'
    return { problem: isFailed ? `Failed to load target state: ${ready.message}` : '' }
  }
  const artifactOf = (one: string): Digest => ports.sourceOf(namespace, one)!.status!.artifact!.digest
  const recipes = bundles.map((bundle) => recipeOf(bundle, artifactOf))
  const { destination = {} } = parent.spec
  const digest = digestOfJson({ recipes, cluster, name, labels, destination, project, level: levelOf(parent) })
  if (before?.digest === digest) return before
  const rendered: UnknownObject[] = []
  for (const recipe of recipes) {
    const result = (await ports.render(recipe, cluster, signal))?.result
    if (result?.ok === false) return { problem: `Failed to generate manifests: ${describeProblems(result.problems)}` }
    if (result?.ok === true) rendered.push(...result.objects)
  }
  const content = nestedContent(parent, rendered, project)
  return 'problem' in content ? content : { ...content, digest }
}

function recipeOf(bundle: Bundle, artifactOf: (source: string) => Digest): BundleRecipe {
  const { source, style, builder, helm, defaultNamespace, secrets } = bundle.spec
  return {
    bundle: keyOf(bundle),
    artifact: artifactOf(source?.name ?? ''),
    include: (source?.include ?? []).map(({ source: one, at }) => ({ artifact: artifactOf(one), at })),
    allowSecrets: secrets === 'Allow',
    ...compact({ path: source?.path, ignore: source?.ignore, style, builder, helm, defaultNamespace }),
  }
}

interface Writing {
  readonly ports: Pick<ArgoPorts, 'findNested' | 'nestedIn' | 'writeNested' | 'removeNested'>
  readonly context: Pick<Context, 'signal' | 'log'>
}

/** Writes and removes what a sync should, and says how it stands. */
export async function syncNested(
  parent: Application,
  content: NestedContent,
  {
    reason,
    isDeployed,
    prunes,
    ports,
    context,
  }: Writing & { readonly reason: string | undefined; readonly isDeployed: boolean; readonly prunes: boolean },
): Promise<NestedDecision> {
  const { namespace = '', name } = parent.metadata
  const { automated } = parent.spec.syncPolicy ?? {}
  const isAuto = isAutomated(parent.spec)
  const by = reason === undefined ? undefined : isRunning(parent) ? 'operation' : 'automated'
  const scene = {
    find: (kind: Kind, own: string) => ports.findNested(kind, namespace, own),
    present: ports.nestedIn(namespace, name),
  }
  const decision = decideNested(parent, content, scene, {
    by,
    isDeployed,
    prune: prunes || (isAuto && automated?.prune === true),
    selfHeal: isAuto && automated?.selfHeal === true,
    allowEmpty: automated?.allowEmpty === true,
  })
  const refused: string[] = []
  for (const one of decision.writes) {
    try {
      await ports.writeNested(one.kind, merged(one, scene.find(one.kind, one.object.metadata.name)), context.signal)
      context.log.info({ kind: one.kind.kind, object: one.object.metadata.name, owner: name }, 'written from content')
    } catch (caught) {
      // Another pass follows the change that came in between.
      if (isApiError(caught, 'Conflict') || isApiError(caught, 'AlreadyExists')) continue
      refused.push(refusedWrite(caught, one.kind.kind, one.object.metadata.name))
    }
  }
  for (const { kind, object } of decision.removals) await ports.removeNested(kind, object, context.signal)
  const [problem] = refused
  if (problem === undefined) return decision
  const row = { state: 'Failed' as const, message: problem, generation: 1, target: 1 }
  return { ...decision, problem, row, written: row }
}

/** What users and other controllers set on the object stays. */
function merged({ object }: NestedObject, present: KubeObject | undefined): KubeObject {
  if (!present) return object
  const { labels, annotations, finalizers = [] } = object.metadata
  const kept = (present.metadata.finalizers ?? []).filter((one) => !one.startsWith('resources-finalizer.'))
  return {
    ...present,
    ...object,
    metadata: {
      ...present.metadata,
      labels: { ...present.metadata.labels, ...labels },
      annotations: { ...present.metadata.annotations, ...annotations },
      finalizers: [...kept, ...finalizers],
    },
  }
}

/** Removes the objects of a deleted Application; returns whether some are still there. */
export async function removeAllNested(
  { metadata: { namespace = '', name } }: Application,
  ports: Pick<ArgoPorts, 'nestedIn' | 'removeNested'>,
  signal: AbortSignal,
): Promise<boolean> {
  const left = ports.nestedIn(namespace, name)
  for (const { kind, object } of left) {
    if (!object.metadata.deletionTimestamp) await ports.removeNested(kind, object, signal)
  }
  return left.length > 0
}
