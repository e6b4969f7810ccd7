/**
 * Kustomize's own strategic merge. It differs from the API server's: patched list items move to the front, `$patch` is
 * known, and `$retainKeys`, `$deleteFromPrimitiveList` and `$setElementOrder` are ordinary fields.
 */
import { applyDirective, takeDirective } from './merge-directive.ts'
import type { Directive, MergeContext, MergeOperands } from './merge-directive.ts'
import { mergeList } from './merge-list.ts'
import type { MergeSchema, MergeSchemas } from './merge-schema.ts'
import { NULL_TAG, expectKind, fieldNames, fieldOf, isNull, setField, textOf } from '../nodes/node.ts'
import type { NodeKind, YamlNode } from '../nodes/node.ts'
import { makeNode } from '../../../yaml/node.ts'

/** Merges a patch into a tree, in place; gives nothing when the patch deletes it. */
export function mergePatch(
  patch: YamlNode | undefined,
  target: YamlNode | undefined,
  schemas: MergeSchemas,
  prepend = true,
): YamlNode | undefined {
  return mergeNodes({ target, patch }, undefined, { schemas, prepend, keptNulls: new Set(), mergeNodes })
}

function mergeNodes(sides: MergeOperands, known: MergeSchema | undefined, context: MergeContext): YamlNode | undefined {
  const schema = known ?? ownSchema(sides, context.schemas)
  const kind = kindOf(sides)
  if (kind === undefined || kind === 'mapping') {
    expectSides(sides, 'mapping')
    return mergeMappings(sides, schema, context)
  }
  expectSides(sides, kind)
  if (kind === 'sequence' && schema?.strategy.split(',').includes('merge')) return mergeList(sides, schema, context)
  return sides.patch ?? sides.target
}

function kindOf({ target, patch }: MergeOperands): NodeKind | undefined {
  if (!isNull(target)) return target.kind
  return isNull(patch) ? undefined : patch.kind
}

function expectSides({ target, patch }: MergeOperands, kind: NodeKind): void {
  expectKind(target, kind)
  expectKind(patch, kind)
}

function ownSchema({ target, patch }: MergeOperands, schemas: MergeSchemas): MergeSchema | undefined {
  for (const node of [target, patch]) {
    if (isNull(node)) continue
    const kind = textOf(fieldOf(node, 'kind'))
    const apiVersion = textOf(fieldOf(node, 'apiVersion'))
    const schema = kind !== '' && apiVersion !== '' ? schemas.of(apiVersion, kind) : undefined
    if (schema) return schema
  }
  return undefined
}

function mergeMappings(
  sides: MergeOperands,
  schema: MergeSchema | undefined,
  context: MergeContext,
): YamlNode | undefined {
  const { patch } = sides
  if (sides.target && patch && sides.target.kind !== 'scalar' && sides.target.content.length === 0) {
    sides.target.style = patch.style
  }
  const target = startMapping(sides, context)
  if (!target) return undefined
  sides.target = target
  const names = new Set([...fieldNames(target), ...(patch ? fieldNames(patch) : [])])
  for (const name of [...names].sort()) {
    const targetValue = fieldOf(target, name)
    const patchValue = fieldOf(patch, name)
    const value = mergeNodes({ target: targetValue, patch: patchValue }, schema?.field(name), context)
    const side =
      value === undefined ? undefined : value === targetValue ? target : value === patchValue ? patch : undefined
    setField(target, name, value, {
      keyStyle: side ? keyStyle(side, name) : 0,
      keepNull: value !== undefined && context.keptNulls.has(value),
    })
  }
  return target
}

function keyStyle(node: YamlNode, name: string): number {
  const at = node.content.findIndex((key, i) => i % 2 === 0 && key.value === name)
  return node.content[at]?.style ?? 0
}

function startMapping({ target, patch }: MergeOperands, context: MergeContext): YamlNode | undefined {
  if (isNull(target)) {
    if (directiveOrMerge(patch) === 'delete') return undefined
    if (patch === undefined && target && (target as YamlNode).value !== '') {
      const kept = makeNode('scalar', { tag: NULL_TAG, value: (target as YamlNode).value })
      context.keptNulls.add(kept)
      return kept
    }
    return patch
  }
  return applyDirective({ target, patch })
}

function directiveOrMerge(patch: YamlNode | undefined): Directive {
  try {
    return takeDirective(patch)
  } catch {
    return 'merge'
  }
}
