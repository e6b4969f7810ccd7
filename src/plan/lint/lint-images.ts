import { isObject } from '../../core/json.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { FieldPath } from '../objects/managed-fields.ts'
import { describeObject } from '../objects/object-id.ts'
import { finding } from './finding.ts'
import type { Finding } from './finding.ts'

const CONTAINERS = ['containers', 'initContainers', 'ephemeralContainers'] as const
/** Tags that their owners move by habit. */
const MOVING: ReadonlySet<string> = new Set([
  'latest',
  'main',
  'master',
  'edge',
  'nightly',
  'stable',
  'dev',
  'develop',
  'unstable',
])

/** An image of an object, and where it stands. */
export interface FoundImage {
  readonly image: string
  readonly container: string
  readonly place: FieldPath
}

/** Images without a fixed version. */
export function lintImages(object: UnknownObject): Finding[] {
  const who = describeObject({ ...object.metadata, apiVersion: object.apiVersion, kind: object.kind })
  return imagesOf(object).flatMap(({ image, container, place }) => {
    const why = unpinned(image)
    if (why === undefined) return []
    const message = `${who}: the image ${image} of container ${container} ${why}`
    return [finding('unpinned-image', message, { place, todo: 'name a version, or a digest' })]
  })
}

/** All images of containers, wherever pods are described in the object. */
function imagesOf(object: UnknownObject): FoundImage[] {
  const found: FoundImage[] = []
  walk(object, [], found)
  return found
}

function walk(value: unknown, place: FieldPath, found: FoundImage[]): void {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) walk(item, [...place, index], found)
    return
  }
  if (!isObject(value)) return
  for (const [field, item] of Object.entries(value)) {
    const isContainers = (CONTAINERS as readonly string[]).includes(field) && Array.isArray(item)
    if (isContainers) {
      for (const [index, container] of (item as unknown[]).entries()) {
        if (!isObject(container) || typeof container['image'] !== 'string') continue
        const name = typeof container['name'] === 'string' ? container['name'] : String(index)
        found.push({ image: container['image'], container: name, place: [...place, field, index, 'image'] })
      }
    }
    // Schemas of CRDs describe fields by these names without having any.
    else if (field !== 'openAPIV3Schema') walk(item, [...place, field], found)
  }
}

/** Why an image is not pinned; undefined when it is. */
export function unpinned(image: string): string | undefined {
  if (image === '' || image.includes('@')) return undefined
  const last = image.slice(image.lastIndexOf('/') + 1)
  const colon = last.indexOf(':')
  if (colon < 0) return 'has no tag, which means latest'
  const tag = last.slice(colon + 1)
  return MOVING.has(tag) ? `has the tag ${tag}, which moves` : undefined
}
