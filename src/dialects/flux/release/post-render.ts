// Tested by src/dialects/flux/release/release-builder.test.ts.
/** What helm-controller does with rendered objects: post renderers, common metadata, and the labels of their owner. */
import { utf8 } from '../../../core/bytes.ts'
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'
import { RenderFailure } from '../../../render/bundle/render-failure.ts'
import { buildKustomization, buildObjects } from '../../../render/kustomize/build.ts'
import { KustomizeError } from '../../../render/kustomize/kustomize-error.ts'
import { createFileTree } from '../../../render/kustomize/loader.ts'
import { writeYaml } from '../../../yaml/write/write-yaml.ts'
import { HELM_GROUP } from './release-kind.ts'

/** What is changed in rendered objects. */
export interface PostRender {
  /** Entries of `spec.postRenderers`. */
  readonly renderers: readonly JsonObject[]
  readonly commonMetadata: JsonObject
  /** The object of Flux that the objects belong to. */
  readonly owner: { readonly name: string; readonly namespace: string }
}

const INPUT = 'helm-output.yaml'

/** The objects that are delivered; throws RenderFailure. */
export function postRender(objects: readonly UnknownObject[], { renderers, commonMetadata, owner }: PostRender) {
  const rendered = renderers.reduce<readonly UnknownObject[]>((all, one) => kustomized(all, one['kustomize']), objects)
  const labels = { [`${HELM_GROUP}/name`]: owner.name, [`${HELM_GROUP}/namespace`]: owner.namespace }
  return rendered.map((object): UnknownObject => {
    const { metadata } = object
    const annotations = textsIn(commonMetadata['annotations'])
    return {
      ...object,
      metadata: {
        ...metadata,
        labels: { ...metadata.labels, ...labels, ...textsIn(commonMetadata['labels']) },
        ...(Object.keys(annotations).length > 0 && { annotations: { ...metadata.annotations, ...annotations } }),
      },
    }
  })
}

function kustomized(objects: readonly UnknownObject[], kustomize: unknown): readonly UnknownObject[] {
  if (!isObject(kustomize) || objects.length === 0) return objects
  const { patches, images, patchesStrategicMerge, patchesJson6902 } = kustomize
  const file: JsonObject = { resources: [INPUT] }
  if (Array.isArray(patches)) file['patches'] = patches
  if (Array.isArray(images)) file['images'] = images
  // Fields of older versions: a patch as an object is written as text.
  const older = [
    ...listOf(patchesStrategicMerge).map((patch) => ({ patch: JSON.stringify(patch) })),
    ...listOf(patchesJson6902).map(({ patch, target }) => ({ patch: JSON.stringify(patch), target })),
  ]
  if (older.length > 0) file['patches'] = [...older, ...(Array.isArray(patches) ? (patches as unknown[]) : [])]
  const files = new Map([
    ['/kustomization.yaml', utf8(JSON.stringify(file))],
    [`/${INPUT}`, utf8(objects.map((object) => writeYaml(object)).join('---\n'))],
  ])
  try {
    return buildObjects(buildKustomization(createFileTree(files), '/').resources) as unknown as UnknownObject[]
  } catch (caught) {
    if (!(caught instanceof KustomizeError)) throw caught
    throw new RenderFailure(`error while running post render on files: ${caught.message}`, { cause: caught })
  }
}

function listOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

function textsIn(value: unknown): Record<string, string> {
  return isObject(value) ? (value as Record<string, string>) : {}
}
