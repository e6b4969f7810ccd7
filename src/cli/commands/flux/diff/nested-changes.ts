// Tested by src/cli/commands/flux/diff/diff-kustomization.contract.test.ts.
/** Objects of Flux inside the build of a Kustomization, beside those that the hub follows. */
import type { Client } from '../../../../client/client.ts'
import { isApiError } from '../../../../core/errors.ts'
import type { KubeObject } from '../../../../kinds/meta.ts'
import type { Bundle } from '../../../../kinds/native/bundle.ts'
import { fieldChanges } from '../../../../plan/objects/object-changes.ts'
import { renderVariants } from '../../../../render/bundle/render-variants.ts'
import { listAll } from '../../../api/flotilla-resources.ts'
import { ENTROPY, recipeFor } from '../../../repository/bundle-recipe.ts'
import { FLUX_COMMAND_KINDS } from '../flux-kinds.ts'
import type { ObjectChange } from './compare-delivered.ts'
import { changesText } from './print-changes.ts'
import type { Kustomization, PreviewedObject } from './read-scene.ts'
import type { LocalDirectory } from './render-sides.ts'

/** What the build has besides objects for clusters. */
export interface NestedChanges {
  readonly text: string
  readonly leftOut: readonly string[]
  readonly kustomizations: readonly Kustomization[]
  /** Whether the build has objects for clusters, or fails. */
  readonly hasOthers: boolean
}

/** As on the hub: nested objects are the same for all clusters. */
const NO_CLUSTER = { name: '', labels: {}, annotations: {}, claims: {}, values: {} }

interface NestedInput {
  readonly client: Client
  readonly local: LocalDirectory
  readonly placement: string
}

export async function nestedChanges(
  object: Kustomization,
  bundle: Bundle,
  { client, local, placement }: NestedInput,
): Promise<NestedChanges> {
  const { builder, inputs = [] } = bundle.spec
  const none = { text: '', leftOut: [], kustomizations: [], hasOthers: true }
  // The hub does not look for them either.
  if (inputs.length > 0) return none
  const [{ localBuilder }, { previewNested }] = await Promise.all([
    import('../../../../dialects/flux/build/flux-builder.ts'),
    import('../../../../dialects/flux/compile/preview-kustomization.ts'),
  ])
  const renderPart = (options: object) => {
    const spec = { ...bundle.spec, builder: { name: builder!.name, options: { ...builder!.options, ...options } } }
    const recipe = recipeFor({ ...bundle, spec }, { overrides: [], sources: [] }, () => undefined)
    const parts = { files: new Map(), entropy: ENTROPY, builders: { flux: localBuilder(local) } }
    return renderVariants({ recipe, clusters: [NO_CLUSTER], frozen: {} }, parts).variants[0]!
  }
  const flux = renderPart({ part: 'flux' })
  if (flux.result.ok !== true || flux.result.objects.length === 0) return none
  const others = renderPart({}).result
  const hasOthers = others.ok !== true || others.objects.length > 0
  if (Object.keys(flux.when).length > 0) {
    const leftOut = ['objects of Flux in the build are left out: they are different for each cluster']
    return { ...none, leftOut, hasOthers }
  }
  const present = await presentObjects(client, object.metadata.namespace ?? '')
  const find = ({ kind }: { readonly kind: string }, name: string) => present.get(`${kind}/${name}`)
  const { nested, leftOut } = previewNested(object, flux.result.objects, find, placement)
  const changes = nested.flatMap(changeOf)
  const kustomizations = nested
    .filter((one) => one.object.kind === 'Kustomization')
    .map((one) => ({ ...one.live, ...one.object, metadata: { ...one.live?.metadata, ...one.object.metadata } }))
  return {
    text: changesText([{ clusters: [], changes }], 1),
    leftOut,
    kustomizations: kustomizations as unknown as Kustomization[],
    hasOthers,
  }
}

async function presentObjects(client: Client, namespace: string): Promise<Map<string, KubeObject>> {
  const found = new Map<string, KubeObject>()
  for (const { type } of Object.values(FLUX_COMMAND_KINDS)) {
    const items = await listAll<KubeObject>(client, type, { namespace }).catch((caught: unknown) => {
      if (isApiError(caught, 'NotFound')) return []
      throw caught
    })
    for (const one of items) found.set(`${type.kind}/${one.metadata.name}`, { ...one, kind: type.kind })
  }
  return found
}

function changeOf({ object, live, isSame }: PreviewedObject): ObjectChange[] {
  if (isSame) return []
  const { kind, metadata } = object
  const subject = `${kind}/${metadata.namespace ?? ''}/${metadata.name}`
  if (!live) return [{ subject, action: 'created', fields: [] }]
  const before = (live as { readonly spec?: unknown }).spec
  return [{ subject, action: 'drifted', fields: fieldChanges({ spec: before }, { spec: object.spec }) }]
}
