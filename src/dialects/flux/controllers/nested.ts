// Tested by src/dialects/flux/controllers/kustomization.sim.test.ts.
/** Writes the objects of Flux that the build of a Kustomization yields, and judges them. */
import { findCondition } from '../../../core/conditions.ts'
import { digestOfJson } from '../../../core/crypto/digest.ts'
import type { Digest } from '../../../core/crypto/digest.ts'
import { isObject } from '../../../core/json.ts'
import { keyOf } from '../../../kinds/meta.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'
import type { Bundle } from '../../../kinds/native/bundle.ts'
import type { BundleRecipe } from '../../../render/bundle/recipe.ts'
import type { Finding } from '../../read-fields.ts'
import { readKustomization, waitsForHealth } from '../compile/compile-kustomization.ts'
import type { KustomizationScene, KustomizationSpec } from '../compile/compile-kustomization.ts'
import { madeName } from '../compile/made-objects.ts'
import { compileNested, isNestedIn } from '../compile/nested-objects.ts'
import { Kustomization } from '../kinds.ts'
import { HelmRelease } from '../release/release-kind.ts'
import type { ReadyState } from '../status/kustomization-status.ts'
import type { Context } from '../../../engine/reconciler.ts'
import type { KustomizationPorts, NestedObject } from './ports.ts'
import { writeMade } from './write-made.ts'

/** What the build of a Kustomization yields besides objects for clusters. */
interface Yield {
  readonly digest: Digest
  readonly objects: readonly UnknownObject[]
  /** False if the build has objects of Flux only, so that there is nothing to deliver. */
  readonly hasOthers: boolean
  readonly problem?: string
}

/** Follows the nested objects of Kustomizations. */
export interface NestedObjects {
  /** Writes the nested objects; says what is left out, and whether there are objects for clusters. */
  follow(
    object: Kustomization,
    bundle: Bundle['spec'],
    scene: { readonly target: KustomizationScene['target']; readonly context: Context },
  ): Promise<{ readonly findings: readonly Finding[]; readonly hasOthers: boolean; readonly hasNested: boolean }>
  forget(key: string): void
}

export function nestedObjects(ports: KustomizationPorts): NestedObjects {
  const known = new Map<string, Yield>()

  async function yieldOf(object: Kustomization, bundle: Bundle['spec'], signal: AbortSignal): Promise<Yield> {
    const { namespace = '' } = object.metadata
    const artifactOf = (name: string): Digest | undefined => ports.sourceOf(namespace, name)?.status?.artifact?.digest
    const include = (bundle.source?.include ?? []).flatMap(({ source, at }) => {
      const artifact = artifactOf(source)
      return artifact ? [{ artifact, at }] : []
    })
    const recipe: BundleRecipe = {
      bundle: keyOf(object),
      artifact: artifactOf(bundle.source?.name ?? ''),
      include,
      builder: bundle.builder,
    }
    const digest = digestOfJson(recipe)
    const before = known.get(keyOf(object))
    if (before?.digest === digest) return before
    const flux = { ...recipe, builder: { name: 'flux', options: { ...bundle.builder?.options, part: 'flux' } } }
    if (bundle.inputs && bundle.inputs.length > 0) {
      const problem = 'objects of Flux in the build are not looked for: the build has variables from Secrets'
      return { digest, objects: [], hasOthers: true, problem }
    }
    const made = await ports.render(flux, signal)
    const next = made ? await judged(made, recipe, digest, signal) : { digest, objects: [], hasOthers: true }
    known.set(keyOf(object), next)
    return next
  }

  async function judged(
    { result, when }: NonNullable<Awaited<ReturnType<KustomizationPorts['render']>>>,
    recipe: BundleRecipe,
    digest: Digest,
    signal: AbortSignal,
  ): Promise<Yield> {
    // A build that fails is said by the Bundle, which builds the same.
    if (result.ok !== true || result.objects.length === 0) return { digest, objects: [], hasOthers: true }
    const others = await ports.render(recipe, signal)
    const hasOthers = others?.result.ok !== true || others.result.objects.length > 0
    if (Object.keys(when).length === 0) return { digest, objects: result.objects, hasOthers }
    const problem = 'objects of Flux in the build are left out: they are different for each cluster'
    return { digest, objects: [], hasOthers, problem }
  }

  return {
    follow: async (object, bundle, { target, context }) => {
      const { objects, hasOthers, problem } = await yieldOf(object, bundle, context.signal)
      if (problem !== undefined)
        return { findings: [{ level: 'warning', message: problem }], hasOthers, hasNested: true }
      const { namespace = '' } = object.metadata
      const { desired, findings } = compileNested(object, objects, {
        target,
        find: (kind, name) => ports.find(kind, namespace, name),
      })
      await writeMade(object, desired, { ports, context, isOurs: isNestedIn })
      return { findings, hasOthers, hasNested: objects.length > 0 }
    },
    forget: (key) => void known.delete(key),
  }
}

// Objects of Flux inside a build count for the health of their Kustomization, as in Flux, although they are on the hub:
// a Kustomization with `wait` is ready after them, and what depends on it waits for them on each cluster.

type Ports = Pick<KustomizationPorts, 'nestedIn' | 'kustomizationOf' | 'bundleOf'>

/** The most levels of nested Kustomizations that a dependency is looked for in. */
const MAX_DEPTH = 5
/** The most nested objects that a message names. */
const MOST_NAMED = 3

/** The state while nested objects that count are not ready; undefined when all are, or none counts. */
export function withNested(
  { metadata }: Kustomization,
  { fields }: KustomizationSpec,
  ports: Ports,
): ReadyState | undefined {
  if (!waitsForHealth(fields)) return undefined
  const states = ports.nestedIn(metadata.namespace ?? '', metadata.name).map(healthOf)
  const failed = states.find(({ state }) => state === 'Failed')
  if (failed) return { status: 'False', reason: 'HealthCheckFailed', message: `health check failed: ${failed.words}` }
  const waiting = states.filter(({ state }) => state === 'InProgress')
  if (waiting.length === 0) return undefined
  const named = waiting.slice(0, MOST_NAMED).map(({ words }) => words)
  const more = waiting.length > MOST_NAMED ? `, and ${waiting.length - MOST_NAMED} more` : ''
  return {
    status: 'Unknown',
    reason: 'Progressing',
    message: `Running health checks: waiting for ${named.join(', ')}${more}`,
  }
}

interface Health {
  readonly state: 'Current' | 'InProgress' | 'Failed'
  readonly words: string
}

/** By the rules of kstatus. A registry has no state of its own, and a suspended object keeps the one it has. */
function healthOf({ kind, metadata, spec, status }: NestedObject): Health {
  const ready = findCondition(status?.conditions, 'Ready')
  const words = `${kind}/${metadata.namespace ?? ''}/${metadata.name}${ready ? ` (${ready.message})` : ''}`
  const isRegistry = kind === 'HelmRepository' && isObject(spec) && spec['type'] === 'oci'
  if (isRegistry || ready?.status === 'True') return { state: 'Current', words }
  const isStalled = findCondition(status?.conditions, 'Stalled')?.status === 'True'
  return { state: isStalled ? 'Failed' : 'InProgress', words }
}

/** Whether a Kustomization was delivered once: its Bundle is there, or its build has objects of Flux alone. */
export function isDeliveredOnce(namespace: string, name: string, ports: Ports): boolean {
  if (ports.bundleOf(namespace, madeName(Kustomization.kind, name)) !== undefined) return true
  return ports.kustomizationOf(namespace, name)?.status?.lastAttemptedRevision !== undefined
}

/** The Bundles that must be ready on a cluster first, as `namespace/name`. */
export function dependencyBundles({ dependsOn }: KustomizationSpec, ports: Ports): readonly string[] {
  const found = new Set<string>()
  // An expression is judged on the hub, in place of the state.
  for (const { readyExpr, ...one } of dependsOn) if (readyExpr === '') addBundles(one, ports, found, 0)
  return [...found]
}

/** The Bundle of a Kustomization and, if it waits for its objects, the Bundles of what is nested in it. */
function addBundles(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  ports: Ports,
  found: Set<string>,
  depth: number,
): void {
  const own = madeName(Kustomization.kind, name)
  const key = `${namespace}/${own}`
  if (found.has(key) || depth > MAX_DEPTH) return
  if (ports.bundleOf(namespace, own) !== undefined) found.add(key)
  const outer = ports.kustomizationOf(namespace, name)
  if (!outer || !waitsForHealth(readKustomization(outer).spec.fields)) return
  for (const { kind, metadata } of ports.nestedIn(namespace, name)) {
    if (kind === HelmRelease.kind) found.add(`${namespace}/${madeName(HelmRelease.kind, metadata.name)}`)
    if (kind !== Kustomization.kind) continue
    if (!isDeliveredOnce(namespace, metadata.name, ports)) found.add(`${namespace}/${madeName(kind, metadata.name)}`)
    else addBundles({ namespace, name: metadata.name }, ports, found, depth + 1)
  }
}
