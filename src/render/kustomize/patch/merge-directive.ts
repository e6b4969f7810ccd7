/** What a merge passes down, and the `$patch` directive. */
import { KustomizeError } from '../kustomize-error.ts'
import type { MergeSchema, MergeSchemas } from './merge-schema.ts'
import { clearField, fieldOf, getField, isNull } from '../nodes/node.ts'
import type { YamlNode } from '../nodes/node.ts'

/** The two sides of a merge; what is changed comes first. */
export interface MergeOperands {
  target: YamlNode | undefined
  readonly patch: YamlNode | undefined
}

/** What a merge needs to know on its way down. */
export interface MergeContext {
  readonly schemas: MergeSchemas
  /** Items of patches go to the front of lists (patches) or to the end (Helm values). */
  readonly prepend: boolean
  /** Nulls that stay, because the target had them and the patch says nothing. */
  readonly keptNulls: Set<YamlNode>
  /** Merges what is inside. */
  readonly mergeNodes: (
    sides: MergeOperands,
    schema: MergeSchema | undefined,
    context: MergeContext,
  ) => YamlNode | undefined
}

/** What `$patch` asks for. */
export type Directive = 'merge' | 'replace' | 'delete'

/** What a merge goes on with when its target is there: nothing, the patch itself, or the target. */
export function applyDirective({ target, patch }: MergeOperands): YamlNode | undefined {
  if (patch && isNull(patch)) return undefined
  switch (takeDirective(patch)) {
    case 'delete':
      return undefined
    case 'replace':
      return patch
    default:
      return target
  }
}

/** Reads `$patch` of a mapping or a list, and removes it. */
export function takeDirective(patch: YamlNode | undefined): Directive {
  if (patch === undefined) return 'merge'
  if (patch.kind === 'mapping') {
    const directive = getField(patch, '$patch')
    if (!directive) return 'merge'
    const checked = checkDirective(directive.value)
    clearField(patch, '$patch')
    return checked
  }
  if (patch.kind !== 'sequence') {
    throw new KustomizeError(`no implemented strategic merge patch strategy for '${patch.tag}' ('${patch.value}')`)
  }
  const item = patch.content.find((item) => item.kind === 'mapping' && fieldOf(item, '$patch'))
  if (!item || item.content.length > 2) return 'merge'
  const { value } = fieldOf(item, '$patch')!
  const checked = checkDirective(value)
  patch.content = patch.content.filter(
    (item) =>
      !isNull(item) &&
      !(item.kind === 'mapping' && (item.content.length === 0 || fieldOf(item, '$patch')?.value === value)),
  )
  return checked
}

function checkDirective(text: string): Directive {
  if (text === 'merge' || text === 'replace' || text === 'delete') return text
  throw new KustomizeError(`unknown patch strategy '${text}'`)
}
