// Tested by src/dialects/flux/recorded.contract.test.ts.
/** `spec.healthCheckExprs` of a Kustomization: CEL expressions that judge custom resources instead of kstatus. */
import { celEnvironment, compileCel } from '../../../cel/cel.ts'
import type { CelProgram } from '../../../cel/cel.ts'
import { DYNAMIC } from '../../../cel/declare-schema.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'
import { kstatus } from '../../../plan/health/kstatus.ts'
import type { KStatus } from '../../../plan/health/kstatus.ts'
import { groupOf } from '../../../plan/objects/object-id.ts'

/** An entry of `spec.healthCheckExprs`; it counts for all versions of its group. */
export interface HealthExpressions {
  readonly apiVersion: string
  readonly kind?: string
  readonly current?: string
  readonly inProgress?: string
  readonly failed?: string
}

/** Expressions that cannot be used, in Flux's words. */
export class HealthExpressionError extends Error {
  override readonly name = 'HealthExpressionError'
}

/** What an object's status is, and which reader says so. */
export type FluxHealth =
  | (Omit<KStatus, 'conditions'> & { readonly reader: 'kstatus' | 'job'; readonly conditions: KStatus['conditions'] })
  | { readonly reader: 'expressions'; readonly status: 'Current' | 'InProgress' | 'Failed'; readonly message: '' }
  | { readonly reader: 'expressions'; readonly status: 'Unknown'; readonly message: ''; readonly error: string }

/** Judges objects. */
export type HealthReader = (object: UnknownObject) => FluxHealth

type Expression = (object: UnknownObject) => boolean

interface Evaluator {
  readonly group: string
  readonly kind: string
  /** In the order in which they are evaluated; the first that is true decides. */
  readonly steps: readonly (readonly [status: 'InProgress' | 'Failed' | 'Current', holds: Expression])[]
}

/** Compiles the expressions; throws HealthExpressionError. */
export function healthReader(entries: readonly HealthExpressions[]): HealthReader {
  const evaluators: Evaluator[] = []
  for (const [index, entry] of entries.entries()) {
    const { group, kind } = groupKind(entry)
    if (evaluators.some((known) => known.group === group && known.kind === kind)) {
      throw new HealthExpressionError(
        `duplicate custom health check for GroupKind ${kind}.${group} at healthchecks[${index}]`,
      )
    }
    evaluators.push({ group, kind, steps: compileSteps(entry, index) })
  }
  return (object) => {
    const { group, kind } = groupKind(object)
    const evaluator = evaluators.find((known) => known.group === group && (known.kind === kind || known.kind === ''))
    if (evaluator) return evaluate(evaluator, object)
    return { ...kstatus(object), reader: group === 'batch' && kind === 'Job' ? 'job' : 'kstatus' }
  }
}

function groupKind({ apiVersion, kind = '' }: { readonly apiVersion: string; readonly kind?: string }) {
  return { group: groupOf({ apiVersion }), kind }
}

function compileSteps({ inProgress, failed, current }: HealthExpressions, index: number): Evaluator['steps'] {
  const fail = (message: string): never => {
    throw new HealthExpressionError(`failed to create custom status evaluator for healthchecks[${index}]: ${message}`)
  }
  if (!current) return fail('expression Current not specified')
  const sources = [
    ['InProgress', inProgress],
    ['Failed', failed],
    ['Current', current],
  ] as const
  return sources.flatMap(([status, source]) => {
    if (!source) return []
    const compiled = compileExpression(source)
    if ('problem' in compiled) return fail(`failed to parse the expression ${status}: ${compiled.problem}`)
    return [[status, compiled.holds] as const]
  })
}

function evaluate({ steps }: Evaluator, object: UnknownObject): FluxHealth {
  try {
    const status = steps.find(([, holds]) => holds(object))?.[0] ?? 'InProgress'
    return { reader: 'expressions', status, message: '' }
  } catch (caught) {
    if (!(caught instanceof HealthExpressionError)) throw caught
    return { reader: 'expressions', status: 'Unknown', message: '', error: caught.message }
  }
}

// Flux only parses these expressions, so what a check would find is an error of the evaluation, and each field at the
// top of an object is a variable. The variables that a source may name are therefore the fields of the object.
function compileExpression(source: string): { readonly holds: Expression } | { readonly problem: string } {
  const usual = compile(source, USUAL_FIELDS)
  if (!usual.ok && usual.isSyntaxError)
    return { problem: `failed to parse the CEL expression '${source}': ${usual.message}` }
  return {
    holds: (object) => {
      const program = usual.ok ? usual : compile(source, Object.keys(object))
      if (!program.ok) {
        const problem = program.problems.map(({ message }) => message).join('; ')
        throw new HealthExpressionError(`failed to evaluate the CEL expression '${source}': ${problem}`)
      }
      return holds(program, source, object)
    },
  }
}

const USUAL_FIELDS = ['apiVersion', 'kind', 'metadata', 'spec', 'status', 'data', 'type', 'immutable']

function compile(source: string, fields: readonly string[]): ReturnType<typeof compileCel> {
  return compileCel(source, celEnvironment(Object.fromEntries(fields.map((field) => [field, DYNAMIC]))))
}

function holds(program: CelProgram, source: string, object: UnknownObject): boolean {
  const result = program.evaluate({ ...object })
  if (!result.ok) {
    throw new HealthExpressionError(`failed to evaluate the CEL expression '${source}': ${result.error}`)
  }
  if (typeof result.value !== 'boolean') {
    throw new HealthExpressionError(`failed to evaluate CEL expression as boolean: '${source}'`)
  }
  return result.value
}

const READY_ENVIRONMENT = celEnvironment({ self: DYNAMIC, dep: DYNAMIC })

/** Compiles `dependsOn[].readyExpr`, which must be boolean by its type; throws HealthExpressionError. */
export function readyExpression(source: string): (self: UnknownObject, dependency: UnknownObject) => boolean {
  const program = compileCel(source, READY_ENVIRONMENT)
  if (!program.ok) {
    throw new HealthExpressionError(`failed to parse the CEL expression '${source}': ${program.message}`)
  }
  if (program.type.kind !== 'bool') {
    throw new HealthExpressionError(`CEL expression output type mismatch: expected bool, got ${program.type.kind}`)
  }
  return (self, dependency) => {
    const result = program.evaluate({ self, dep: dependency })
    if (!result.ok) {
      throw new HealthExpressionError(`failed to evaluate the CEL expression '${source}': ${result.error}`)
    }
    return result.value === true
  }
}
