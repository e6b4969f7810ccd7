// Tested by src/dialects/flux/controllers/kustomization.sim.test.ts.
/** Writes the objects of Flux that the build of a Kustomization yields. */
import { digestOfJson } from '../../../core/crypto/digest.ts'
import type { Digest } from '../../../core/crypto/digest.ts'
import { keyOf } from '../../../kinds/meta.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'
import type { Bundle } from '../../../kinds/native/bundle.ts'
import type { BundleRecipe } from '../../../render/bundle/recipe.ts'
import type { Finding } from '../../read-fields.ts'
import { compileNested, isNestedIn } from '../compile/nested-objects.ts'
import type { KustomizationScene } from '../compile/compile-kustomization.ts'
import type { Kustomization } from '../kinds.ts'
import type { Context } from '../../../engine/reconciler.ts'
import type { KustomizationPorts } from './ports.ts'
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
