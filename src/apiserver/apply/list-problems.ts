import { isObject } from '../../core/json.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { atomOf, atomKind, itemElement, ListProblem, rootType } from './atoms.ts'
import type { TypeRef } from './atoms.ts'
import { fieldElement, pathText } from './field-set.ts'
import type { FieldPath, PathElement } from './field-set.ts'

/** Lists of a configuration whose items cannot be told apart, in the words of structured-merge-diff. */
export function listProblems(kind: Kind, config: UnknownObject): string[] {
  const problems: string[] = []
  visit(config, rootType(kind.schema), [], problems)
  return problems
}

function visit(value: unknown, type: TypeRef, path: FieldPath, problems: string[]): void {
  const atom = atomOf(type)
  const form = atomKind(atom, value)
  if (form === 'map' && isObject(value) && !atom.map!.isAtomic) {
    for (const [field, child] of Object.entries(value)) {
      visit(child, atom.map!.fieldType(field), [...path, fieldElement(field)], problems)
    }
  }
  if (form !== 'list' || !Array.isArray(value) || atom.list!.isAtomic) return
  const seen = new Set<PathElement>()
  for (const [index, item] of value.entries()) {
    try {
      const element = itemElement(atom.list!, item)
      if (seen.has(element)) problems.push(`${pathText(path)}: duplicate entries for key ${pathText([element])}`)
      seen.add(element)
      visit(item, atom.list!.element, [...path, element], problems)
    } catch (error) {
      if (!(error instanceof ListProblem)) throw error
      problems.push(`${pathText(path)}: element ${index}: ${error.message}`)
    }
  }
}
