/** Transformers of images and replica counts, and single values. */
import { visitField, visitFields } from './field-spec.ts'
import type { FieldSpec } from './field-spec.ts'
import type { ImageChange, Selector } from '../kustomization.ts'
import { KustomizeError, wrapError } from '../kustomize-error.ts'
import { cleanPath } from '../loader.ts'
import { setNamespace } from './metadata-transformers.ts'
import { expectKind, getField, isNull, lookup, plainScalar, setScalar } from '../nodes/node.ts'
import type { YamlNode } from '../nodes/node.ts'
import { compilePattern } from '../go-regexp.ts'
import type { Pattern } from '../go-regexp.ts'
import { gvkText, isSelectedBy } from '../resources/resource-id.ts'
import { selectResources } from '../resources/select.ts'
import type { Transformer } from './transformer.ts'

/** Changes an image wherever it is used, except in CRDs. */
export function imageTransformer(change: ImageChange, specs: readonly FieldSpec[]): Transformer {
  let pattern: Pattern | undefined
  const update = (node: YamlNode): void => {
    expectKind(node, 'scalar')
    pattern ??= imagePattern(change.name ?? '')
    if (pattern.test(node.value)) setScalar(node, plainScalar(changedImage(node.value, change)))
  }
  return (map) => {
    const objects = map.resources.filter(({ node, kind }) => node && kind !== 'CustomResourceDefinition')
    for (const { node } of objects) visitContainers(node!, update)
    for (const { node } of objects) visitFields(node!, specs, { set: update })
  }
}

function imagePattern(name: string): Pattern {
  try {
    return compilePattern(`^${name}(:[a-zA-Z0-9_.{}-]*)?(@[a-zA-Z0-9]+([.+_-][a-zA-Z0-9]+)*:[a-zA-Z0-9_.{}-]*)?$`)
  } catch (caught) {
    // The original crashes here.
    throw wrapError(caught, `the image name "${name}" is used as a regular expression and is not a valid one`)
  }
}

function visitContainers(node: YamlNode, update: (node: YamlNode) => void): void {
  if (node.kind === 'sequence') {
    for (const item of node.content) visitContainers(item, update)
    return
  }
  if (node.kind !== 'mapping') return
  const { content } = node
  for (let i = 0; i + 1 < content.length; i += 2) {
    const value = content[i + 1]!
    if (value.kind === 'scalar') continue
    visitContainers(value, update)
    const { value: key } = content[i]!
    if ((key !== 'containers' && key !== 'initContainers') || value.kind !== 'sequence') continue
    for (const item of value.content) {
      const image = getField(item, 'image')
      if (image) update(image)
    }
  }
}

function changedImage(image: string, { newName, newTag, digest: newDigest, tagSuffix }: ImageChange): string {
  const { name, tag, digest } = splitImage(image)
  let result = { tag, digest }
  if (newTag && newDigest) result = { tag: newTag, digest: newDigest }
  else if (newTag) result = { tag: newTag, digest: '' }
  else if (newDigest) result = { tag: '', digest: newDigest }
  else if (tagSuffix) result = { tag: tag + tagSuffix, digest: '' }
  return (newName || name) + (result.tag && `:${result.tag}`) + (result.digest && `@${result.digest}`)
}

function splitImage(image: string): { name: string; tag: string; digest: string } {
  const slash = Math.max(image.indexOf('/'), 0)
  const at = image.indexOf('@', slash)
  const colon = image.indexOf(':', slash)
  if (colon < 0 && at < 0) return { name: image, tag: '', digest: '' }
  if (at >= 0 && (at < colon || colon < 0)) return { name: image.slice(0, at), tag: '', digest: image.slice(at + 1) }
  const name = image.slice(0, colon)
  if (at >= 0) return { name, tag: image.slice(colon + 1, at), digest: image.slice(at + 1) }
  return { name, tag: image.slice(colon + 1), digest: '' }
}

/** Sets the replica count of what has or had a name. */
export function replicaTransformer(
  { name = '', count = 0 }: { readonly name?: string; readonly count?: number | bigint },
  specs: readonly FieldSpec[],
): Transformer {
  return (map) => {
    let found = false
    for (const spec of specs) {
      for (const { node } of map.byAnyId((id) => id.name === name && isSelectedBy(id, spec))) {
        found = true
        visitField(node!, spec, {
          set: (target) => setScalar(target, plainScalar(String(count), '!!int')),
          createKind: 'scalar',
          createTag: '!!int',
        })
      }
    }
    if (found) return
    throw new KustomizeError(
      `resource with name ${name} does not match a config with the following GVK [${specs.map(gvkText).join(' ')}]`,
    )
  }
}

/** Where a value is added. */
export interface ValueTarget {
  readonly selector?: Selector
  readonly fieldPath?: string
  readonly filePathPosition?: number
}

/** Adds a value to fields, or a part to the paths in them. */
export function valueAddTransformer(value: string, targets: readonly ValueTarget[]): Transformer {
  return (map) => {
    for (const { selector, fieldPath = '', filePathPosition = 0 } of targets) {
      for (const resource of selector ? selectResources(map.resources, selector) : map.resources) {
        if (fieldPath === 'metadata/namespace') setNamespace(resource, { namespace: value, specs: [] })
        else addValue(resource.node!, value, fieldPath, filePathPosition)
      }
    }
  }
}

function addValue(node: YamlNode, value: string, fieldPath: string, position: number): void {
  const fields = fieldPath
    .replaceAll('\\/', '\0')
    .split('/')
    .map((field) => field.replaceAll('\0', '/'))
  const target = lookup(node, fields, 'scalar')
  expectKind(target, 'scalar')
  if (isNull(target)) return
  const found = target
  setScalar(found, plainScalar(position > 0 ? insertPathPart(found.value, position - 1, value) : value))
}

function insertPathPart(path: string, position: number, part: string): string {
  if (part === '') return path
  const parts = path === '' ? [] : path.split('/')
  let at = Math.min(position, parts.length)
  if (parts[0] === '' && parts.length > 0 && at < parts.length) at++
  parts.splice(at, 0, part)
  return cleanPath(parts.join('/'))
}
