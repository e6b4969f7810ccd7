import type { Digest } from '../../core/digest.ts'
import { Stalled } from '../../core/errors.ts'
import type { Context, Draft, Reconciler, Result } from '../../engine/reconciler.ts'
import type { Bundle } from '../../kinds/bundle.ts'
import { bundleOptionsOf } from '../../kinds/bundle-options.ts'
import { apiVersionOf, keyOf } from '../../kinds/meta.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { Release } from '../../kinds/release.ts'
import { readJudgement } from '../../plan/judgement.ts'
import { objectOptions } from '../../plan/object-options.ts'
import { decideRelease, newestRelease } from '../../plan/release.ts'
import type { ExistingRelease } from '../../plan/release.ts'
import { blobsOf, describeProblems } from '../../render/rendered.ts'
import { objectSetBytes } from '../../wire/signed-document.ts'
import type { BundleRenderPorts } from './ports.ts'
import { showRollout } from './ready.ts'

/** Where built-in namespaced objects go that name no namespace, as with kubectl. */
const DEFAULT_NAMESPACE = 'default'

/** Turns a Bundle's content into a Release. */
export function bundleRenderReconciler(ports: BundleRenderPorts): Reconciler<Bundle> {
  return {
    name: 'bundle-render',
    async reconcile(draft: Draft<Bundle>, context: Context): Promise<Result> {
      const bundle = draft.next
      if (bundle.metadata.deletionTimestamp) return {}
      const existing = ports.releasesOf(keyOf(bundle)).map((release) => asExisting(release, bundle.metadata.name))
      const newest = newestRelease(existing)
      const release = isReleased(draft, newest) ? newest : await releaseOf(draft, existing, ports, context)

      bundle.status ??= {}
      bundle.status.release = release.name
      bundle.status.revision = { generation: release.generation, set: release.set }
      showRollout(draft.conditions, release.name, ports.rolloutOf(asObject(bundle, release)))
      return {}
    },
  }
}

/** Whether this generation was rendered already; then nothing is rendered again, also not by a newer hub (I-28). */
function isReleased(draft: Draft<Bundle>, newest: ExistingRelease | undefined): newest is ExistingRelease {
  const rendered = draft.conditions.get('Rendered')
  return (
    rendered?.status === 'True' &&
    rendered.observedGeneration === draft.seen.metadata.generation &&
    newest !== undefined &&
    newest.name === draft.seen.status?.release
  )
}

async function releaseOf(
  draft: Draft<Bundle>,
  existing: readonly ExistingRelease[],
  ports: BundleRenderPorts,
  context: Context,
): Promise<ExistingRelease> {
  const bundle = draft.next
  const set = await renderSet(draft, ports, context)
  const { placement } = bundle.spec
  const decision = decideRelease({
    bundle: bundle.metadata.name,
    generation: bundle.metadata.generation ?? 1,
    set: set.digest,
    placement,
    existing,
    highestAssigned: ports.highestAssigned(keyOf(bundle)),
  })
  draft.conditions.set(
    'Rendered',
    'True',
    'Rendered',
    `Rendered to ${set.size} ${set.size === 1 ? 'object' : 'objects'}.`,
  )
  if (decision.kind === 'Keep') return decision.release

  const release = { name: decision.name, generation: decision.generation, set: set.digest, placement }
  await ports.createRelease(asObject(bundle, release), context.signal)
  context.log.info({ release: release.name, set: release.set }, 'release made')
  return release
}

async function renderSet(
  draft: Draft<Bundle>,
  ports: BundleRenderPorts,
  context: Context,
): Promise<{ readonly digest: Digest; readonly size: number }> {
  const input = { manifests: draft.next.spec.manifests, defaultNamespace: DEFAULT_NAMESPACE }
  const result = await ports.render(input, context.signal)
  if (!result.ok || result.objects.length === 0) {
    const why = result.ok ? 'spec.manifests holds no objects' : describeProblems(result.problems)
    const message = `Cannot render spec.manifests: ${why}. Clusters keep what they run.`
    draft.conditions.set('Rendered', 'False', 'RenderFailed', message)
    throw new Stalled('RenderFailed', message)
  }
  const { spec } = draft.next
  refuseWrongOptions(draft, result.objects)
  const blobs = blobsOf(result.objects)
  for (const blob of blobs) await ports.putBlob(blob.bytes)
  const objects = blobs.map(({ bytes: _bytes, ...object }) => object)
  const options = bundleOptionsOf(spec)
  const set = { format: 'flotilla.dev/set/v1', objects, ...(options ? { options } : {}) } as const
  const digest = await ports.putBlob(objectSetBytes(set))
  return { digest, size: objects.length }
}

/** What objects say about themselves and expressions say about them is read here first, where its author sees the answer, and not only on every cluster. */
function refuseWrongOptions(draft: Draft<Bundle>, objects: readonly UnknownObject[]): void {
  const judgement = readJudgement(draft.next.spec)
  const problems = judgement.ok ? [] : [`spec.${judgement.problem}`]
  for (const object of objects) {
    const read = objectOptions(draft.next.spec, object)
    if (!read.ok) problems.push(read.problem)
  }
  const [first] = problems
  if (first !== undefined) {
    const message = `${first}. Clusters keep what they run.`
    draft.conditions.set('Rendered', 'False', 'RenderFailed', message)
    throw new Stalled('RenderFailed', message)
  }
}

function asExisting(release: Release, bundle: string): ExistingRelease {
  const { generation, set, placement } = release.spec.bundles.find(({ name }) => name === bundle)!
  return { name: release.metadata.name, generation, set, placement }
}

function asObject(bundle: Bundle, { name, generation, set, placement }: ExistingRelease): Release {
  const { namespace } = bundle.metadata
  return {
    apiVersion: apiVersionOf(Release),
    kind: Release.kind,
    metadata: { name, ...(namespace ? { namespace } : {}) },
    spec: { bundles: [{ name: bundle.metadata.name, generation, set, placement }] },
  }
}
