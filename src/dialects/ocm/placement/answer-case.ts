// Tested by src/dialects/ocm/recorded.contract.test.ts: recorded answers of Open Cluster Management.
/** `ocm place --batch`: one line is a set of objects and a sequence of passes with changes in between. */
import { isObject } from '../../../core/json.ts'
import { parseTime } from '../../../core/time/time.ts'
import { compileCelFor } from '../../../plan/placement/cel-predicates.ts'
import type { CompileCel } from '../../../plan/placement/types.ts'
import { createOcmObjects, RefusedObject } from './object-store.ts'
import { placeOnce } from './place.ts'
import type { PassAnswer } from './place.ts'

/** Results of the passes, or the reason why there are none. */
export type CaseAnswer = { readonly steps: readonly PassAnswer[] } | { readonly error: string }

/** Compiles each expression once. */
export function createCelCompiler(): CompileCel {
  const compile = compileCelFor('ocm')
  const known = new Map<string, ReturnType<CompileCel>>()
  return (expression) => {
    const before = known.get(expression)
    if (before) return before
    const program = compile(expression)
    if (known.size < MAX_PROGRAMS) known.set(expression, program)
    return program
  }
}

const MAX_PROGRAMS = 10_000

/** Answers one case. */
export function answerCase(input: unknown, compileCel: CompileCel): CaseAnswer {
  if (!isObject(input)) return { error: 'the case is not an object' }
  const objects = createOcmObjects()
  try {
    for (const object of listIn(input, 'objects')) objects.apply(object)
    const steps = listIn(input, 'steps').map((step): PassAnswer => {
      if (!isObject(step)) throw new RefusedObject('steps: want objects')
      for (const object of listIn(step, 'apply')) objects.apply(object)
      for (const key of listIn(step, 'delete')) objects.delete(String(key))
      const now = typeof step['now'] === 'string' ? parseTime(step['now']) : undefined
      if (now === undefined) throw new RefusedObject('steps: now must be a time such as 2026-06-01T12:00:00Z')
      const placement = objects.placement(String(step['placement']))
      if (!placement) throw new RefusedObject(`steps: Placement ${JSON.stringify(step['placement'])} not found`)
      return placeOnce(objects, placement, { now, compileCel })
    })
    return { steps }
  } catch (error) {
    if (error instanceof RefusedObject) return { error: error.message }
    throw error
  }
}

function listIn(value: Readonly<Record<string, unknown>>, field: string): readonly unknown[] {
  const list = value[field] ?? []
  if (!Array.isArray(list)) throw new RefusedObject(`${field}: want a list`)
  return list
}
