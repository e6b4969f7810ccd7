/** Where objects come from and what changed them, for `buildMetadata`. */
import { ORIGIN, TRANSFORMATIONS } from './build-annotations.ts'
import { cleanPath, isRepositoryUrl } from '../loader.ts'
import { makeNode } from '../../../yaml/node.ts'
import type { YamlNode } from '../nodes/node.ts'
import { nodeText, setField, stringScalar } from '../nodes/node.ts'
import type { Resource } from './resource.ts'
import { readDocuments } from './read-resources.ts'

/** The origin of an object. */
export interface Origin {
  readonly path?: string
  readonly configuredIn?: string
  readonly configuredBy?: Readonly<Record<string, string>>
}

/** An origin one step further down. */
export function originAt(origin: Origin, path: string): Origin {
  return { ...origin, path: isRepositoryUrl(path) ? '' : joined(origin.path ?? '', path) }
}

/** Joins a path that may be empty. */
export function joined(directory: string, path: string): string {
  return cleanPath(directory === '' ? path : `${directory}/${path}`)
}

/** The text of an origin. */
export function originText(origin: Origin): string {
  return nodeText(originNode(origin))
}

function originNode({ path, configuredIn, configuredBy }: Origin): YamlNode {
  const node = makeNode('mapping')
  if (path) setField(node, 'path', stringScalar(path))
  if (configuredIn) setField(node, 'configuredIn', stringScalar(configuredIn))
  const by = Object.entries(configuredBy ?? {}).filter(([, value]) => value !== '')
  if (by.length > 0) {
    const inner = makeNode('mapping')
    for (const [key, value] of by) setField(inner, key, stringScalar(value))
    setField(node, 'configuredBy', inner)
  }
  return node
}

/** Marks objects that have no origin yet. */
export function addOrigin(resources: readonly Resource[], origin: Origin): void {
  for (const resource of resources) {
    if (resource.annotation(ORIGIN) === undefined) {
      resource.setAnnotations(resource.annotations.set(ORIGIN, originText(origin)))
    }
  }
}

/** Records a transformation in all objects; an object without origin was created by it. */
export function addTransformation(resources: readonly Resource[], origin: Origin): void {
  for (const resource of resources) {
    if (resource.annotation(ORIGIN) === undefined) {
      resource.setAnnotations(resource.annotations.set(ORIGIN, originText(origin)))
      continue
    }
    const list = makeNode('sequence')
    const before = resource.annotation(TRANSFORMATIONS)
    if (before !== undefined) list.content.push(...(readDocuments(before)[0]?.content ?? []))
    list.content.push(originNode(origin))
    resource.setAnnotations(resource.annotations.set(TRANSFORMATIONS, nodeText(list)))
  }
}

/** The origin that a plugin file gives to what it makes or changes. */
export function pluginOrigin(plugin: Resource): Origin | undefined {
  const text = plugin.annotation(ORIGIN)
  if (text === undefined) return undefined
  const node = readDocuments(text)[0]
  const path = node?.content[(node.content.findIndex((key) => key.value === 'path') ?? -1) + 1]?.value ?? ''
  const { apiVersion, kind, name, namespace } = plugin
  return { configuredIn: path, configuredBy: { apiVersion, kind, name, namespace } }
}
