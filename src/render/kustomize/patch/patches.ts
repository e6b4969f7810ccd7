/** Patches: strategic merge and JSON 6902, from files or in place. */
import { ALLOW_KIND_CHANGE, ALLOW_NAME_CHANGE, isInternalAnnotation } from '../resources/build-annotations.ts'
import { textIfUtf8 } from '../resources/generated-data.ts'
import { applyJsonPatch, readJsonPatch } from './json-patch.ts'
import type { Operation } from './json-patch.ts'
import type { Patch, Selector } from '../kustomization.ts'
import { KustomizeError, messageOf, wrapError } from '../kustomize-error.ts'
import type { Loader } from '../loader.ts'
import { plainValue } from '../nodes/plain-value.ts'
import { readResources } from '../resources/read-resources.ts'
import type { Resource } from '../resources/resource.ts'
import { idText } from '../resources/resource-id.ts'
import { applyPatch } from '../resources/resource-map.ts'
import type { ResourceMap } from '../resources/resource-map.ts'
import { selectResources, selectorText } from '../resources/select.ts'
import type { Transformer, TransformerPorts } from '../transform/transformer.ts'
import { valueNode } from '../nodes/value-node.ts'

/** An entry of `patches`; `shown` is its configuration for messages. */
export function patchTransformer(patch: Patch, ports: TransformerPorts, shown: string): Transformer {
  const inline = (patch.patch ?? '').trim()
  const path = patch.path ?? ''
  if (inline === '' && path === '') throw new KustomizeError(`must specify one of patch and path in\n${shown}`)
  if (inline !== '' && path !== '') {
    throw new KustomizeError(`patch and path can't be set at the same time\n${shown}`)
  }
  const text = inline === '' ? loadPatch(path, ports.loader) : inline
  const source = inline === '' ? `[path: ${JSON.stringify(path)}]` : `[patch: ${JSON.stringify(text)}]`
  const merge = attempt(() => readResources(text))
  const json = attempt(() => readJsonPatch(text))
  if (merge?.length && json?.length) {
    throw new KustomizeError(`illegally qualifies as both an SM and JSON patch: ${source}`)
  }
  if (!merge && !json) throw new KustomizeError(`unable to parse SM or JSON patch from ${source}`)
  if (!merge) return (map) => applyJson(map, json!, { target: patch.target, source, remember: true })
  for (const resource of merge) {
    if (patch.options?.allowNameChange) resource.enable(ALLOW_NAME_CHANGE)
    if (patch.options?.allowKindChange) resource.enable(ALLOW_KIND_CHANGE)
  }
  if (merge.length === 0) return () => {}
  return (map) => applyMerge(map, merge, { target: patch.target, source, ports })
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

function loadPatch(path: string, loader: Loader): string {
  try {
    return decodeText(loader.load(path))
  } catch (caught) {
    throw wrapError(caught, `failed to get the patch file from path(${path})`)
  }
}

function decodeText(bytes: Uint8Array): string {
  return textIfUtf8(bytes) ?? new TextDecoder().decode(bytes)
}

interface MergeInput {
  readonly target: Selector | undefined
  readonly source: string
  readonly ports: TransformerPorts
}

function applyMerge(map: ResourceMap, patches: readonly Resource[], { target, source, ports }: MergeInput): void {
  if (target) {
    if (patches.length > 1) {
      throw new KustomizeError(
        `Multiple Strategic-Merge Patches in one \`patches\` entry is not allowed to set \`patches.target\` field: ${source}`,
      )
    }
    let selected: Resource[]
    try {
      selected = selectResources(map.resources, target)
    } catch (caught) {
      throw wrapError(caught, `unable to find patch target "${selectorText(target)}" in \`resources\``)
    }
    map.applyPatchTo(selected, patches[0]!, ports.schemas())
    return
  }
  for (const patch of patches) {
    let found: Resource
    try {
      found = map.theOneWithId(patch.originalId)
    } catch (caught) {
      throw wrapError(caught, `no resource matches strategic merge patch "${idText(patch.originalId)}"`)
    }
    applyPatch(found, patch, ports.schemas())
  }
}

interface JsonInput {
  readonly target: Selector | undefined
  readonly source: string
  readonly remember: boolean
}

function applyJson(map: ResourceMap, patch: readonly Operation[], { target, source, remember }: JsonInput): void {
  if (!target) throw new KustomizeError(`must specify a target for JSON patch ${source}`)
  for (const resource of selectResources(map.resources, target)) {
    if (remember) resource.rememberId()
    const internal = [...resource.annotations].filter(([key]) => isInternalAnnotation(key))
    const value = plainValue(resource.node!) as Map<string, unknown>
    applyJsonPatch(value, patch)
    resource.node = valueNode(value)
    resource.setAnnotations(new Map([...resource.annotations, ...internal]))
  }
}

/** The entries of `patchesStrategicMerge`, each a file or a patch in place, and patches given as one text. */
export function mergePatchTransformer(paths: readonly string[], patches: string, ports: TransformerPorts): Transformer {
  if (paths.length === 0 && patches === '') throw new KustomizeError('empty file path and empty patch content')
  const loaded = paths.flatMap((path) => attempt(() => readResources(path)) ?? readPatchFile(path, ports.loader))
  if (patches !== '') loaded.push(...readResources(patches))
  if (loaded.length === 0) {
    throw new KustomizeError(`patch appears to be empty; files=[${paths.join(' ')}], Patch=${patches}`)
  }
  return (map) => {
    for (const patch of loaded) map.applyPatchTo([map.theOneWithId(patch.originalId)], patch, ports.schemas())
  }
}

function readPatchFile(path: string, loader: Loader): Resource[] {
  const text = decodeText(loader.load(path))
  try {
    return readResources(text)
  } catch (caught) {
    throw withFileName(caught, path)
  }
}

/** The error of a file that is no YAML, with the file's name as kustomize adds it. */
export function withFileName(caught: unknown, path: string): unknown {
  const message = messageOf(caught)
  return message.includes('MalformedYAMLError') ? new KustomizeError(`${message} in File: ${path}`) : caught
}

/** An entry of `patchesJson6902`. */
export function json6902Transformer(
  { target, path = '', patch: inline = '' }: Patch,
  { loader }: TransformerPorts,
): Transformer {
  if (!target?.name) throw new KustomizeError('must specify the target name')
  if (path === '' && inline === '') throw new KustomizeError('empty file path and empty jsonOp')
  if (path !== '' && inline !== '') throw new KustomizeError('must specify a file path or jsonOp, not both')
  const text = path === '' ? inline : decodeText(loader.load(path))
  if (text === '') throw new KustomizeError(`patch file '${path}' empty seems to be empty`)
  let patch: Operation[]
  try {
    patch = readJsonPatch(text)
  } catch (caught) {
    throw text.startsWith('[') || !(caught instanceof KustomizeError) ? caught : wrapError(caught, `decoding ${text}`)
  }
  if (patch.length === 0) throw new KustomizeError(`patch appears to be empty; file=${path}, JsonOp=${text}`)
  return (map) => applyJson(map, patch, { target, source: text, remember: false })
}
