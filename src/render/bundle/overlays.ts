/**
 * Overlays of plain manifests: the files of `overlays/NAME/` replace or add files of the directory. A file with
 * `_patch.` in its name patches the file of the same name without `_patch`. A patch is a JSON Patch when it is a list,
 * a strategic merge patch for built-in kinds, and a JSON merge patch for all remaining kinds.
 */
import { fromUtf8, utf8 } from '../../core/bytes.ts'
import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { readYaml } from '../../yaml/read/read-yaml.ts'
import { writeYaml } from '../../yaml/write/write-yaml.ts'
import { YamlError } from '../../yaml/yaml.ts'
import { applyJsonPatch, readJsonPatch } from '../kustomize/patch/json-patch.ts'
import { KustomizeError } from '../kustomize/kustomize-error.ts'
import { mergePatch as strategicMerge } from '../kustomize/patch/merge-patch.ts'
import { BUILT_IN_SCHEMAS } from '../kustomize/patch/merge-schema.ts'
import { plainValue } from '../kustomize/nodes/plain-value.ts'
import { readFirstNode } from '../kustomize/nodes/read-node.ts'
import { mergePatch } from './finish-objects.ts'
import { RenderFailure } from './render-failure.ts'

const OVERLAYS = 'overlays/'
const PATCH = '_patch.'

/**
 * Returns the files of a directory, by relative path, with overlays applied in order and without the files of
 * `overlays/`.
 */
export function applyOverlays(
  files: ReadonlyMap<string, Uint8Array>,
  overlays: readonly string[],
): Map<string, Uint8Array> {
  const made = new Map([...files].filter(([path]) => !path.startsWith(OVERLAYS)))
  for (const overlay of overlays) {
    const folder = `${OVERLAYS}${overlay.replace(/^(\.?\/)+|\/+$/g, '')}/`
    const own = [...files].filter(([path]) => path.startsWith(folder)).sort(([a], [b]) => (a < b ? -1 : 1))
    const isPatch = (path: string): boolean => path.slice(path.lastIndexOf('/') + 1).includes(PATCH)
    for (const [path, bytes] of own) if (!isPatch(path)) made.set(path.slice(folder.length), bytes)
    for (const [path, bytes] of own) if (isPatch(path)) patchFile(made, { path, target: targetOf(path, folder) }, bytes)
  }
  return made
}

function targetOf(path: string, folder: string): string {
  const slash = path.lastIndexOf('/') + 1
  return path.slice(folder.length, slash) + path.slice(slash).replace(PATCH, '.')
}

function patchFile(
  files: Map<string, Uint8Array>,
  { path, target }: { readonly path: string; readonly target: string },
  bytes: Uint8Array,
): void {
  const base = files.get(target)
  if (!base) {
    throw new RenderFailure(
      `${path} patches ${target}, and there is no such file; the name must be the same, also its end`,
      {
        file: path,
      },
    )
  }
  try {
    const documents = readYaml(base, { file: target, resolver: '1.1' }).map(({ value }) => value)
    for (const { value } of readYaml(bytes, { file: path, resolver: '1.1' })) {
      if (value === null || value === undefined) continue
      const at = documentFor(value, documents, { path, target })
      documents[at] = patched(documents[at] as JsonObject, value, fromUtf8(bytes))
    }
    files.set(target, utf8(documents.map((document) => `---\n${writeYaml(document)}`).join('')))
  } catch (caught) {
    if (caught instanceof KustomizeError) throw new RenderFailure(`${path}: ${caught.message}`, { cause: caught })
    if (caught instanceof YamlError)
      throw new RenderFailure(`${path} cannot be applied: ${caught.message}`, { cause: caught })
    throw caught
  }
}

/**
 * Finds the document of the base that a patch is for. In a file with several objects the patch must name the object.
 */
function documentFor(
  patch: unknown,
  documents: readonly unknown[],
  { path, target }: { readonly path: string; readonly target: string },
): number {
  const objects = documents.flatMap((document, at) => (isObject(document) ? [{ document, at }] : []))
  const [first] = objects
  if (!first) throw new RenderFailure(`${path} patches ${target}, which holds no object`, { file: path })
  if (objects.length === 1) return first.at
  const kind = isObject(patch) ? patch['kind'] : undefined
  const name = isObject(patch) ? nameOf(patch) : undefined
  const meant = objects.filter(
    ({ document }) =>
      (kind !== undefined || name !== undefined) &&
      (kind === undefined || document['kind'] === kind) &&
      (name === undefined || nameOf(document) === name),
  )
  if (meant.length === 1) return meant[0]!.at
  throw new RenderFailure(
    `${path} patches ${target}, which holds ${objects.length} objects; say kind and metadata.name of the one it means`,
    { file: path },
  )
}

function nameOf(object: JsonObject): unknown {
  return isObject(object['metadata']) ? object['metadata']['name'] : undefined
}

function patched(base: JsonObject, patch: unknown, text: string): unknown {
  if (Array.isArray(patch)) {
    const document = mapsOf(base) as Map<string, unknown>
    applyJsonPatch(document, readJsonPatch(text))
    return jsonOf(document)
  }
  const { apiVersion, kind } = base
  const isBuiltIn =
    typeof apiVersion === 'string' && typeof kind === 'string' && BUILT_IN_SCHEMAS.of(apiVersion, kind) !== undefined
  if (!isBuiltIn) return mergePatch(base, patch)
  // A patch may omit apiVersion and kind: the file's name identifies the object.
  const whole = isObject(patch) ? { ...patch, apiVersion, kind } : patch
  const merged = strategicMerge(nodeOf(whole), nodeOf(base), BUILT_IN_SCHEMAS, false)
  return merged ? jsonOf(plainValue(merged)) : null
}

function nodeOf(value: unknown) {
  const document = readFirstNode(writeYaml(value))
  return document?.content[0]
}

function mapsOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(mapsOf)
  return isObject(value) ? new Map(Object.entries(value).map(([key, item]) => [key, mapsOf(item)])) : value
}

function jsonOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(jsonOf)
  if (value instanceof Map) {
    return Object.fromEntries([...(value as Map<string, unknown>)].map(([key, item]) => [key, jsonOf(item)]))
  }
  return typeof value === 'bigint' ? Number(value) : value
}
