// Tested by src/plan/policy/rules/content-rules.test.ts
/** Evaluation of policy expressions: their variables, their authorizer and their cost limit. */
import { PER_OBJECT_LIMIT } from '../../../cel/cel.ts'
import type { CelProgram, CelResult } from '../../../cel/cel.ts'
import { CelAuthorizer, ResourceCheck } from '../../../cel/library/authorizer.ts'
import type { AccessChecker } from '../../../cel/library/authorizer.ts'
import { CelFailure } from '../../../cel/values.ts'
import { compact } from '../../../core/compact.ts'
import type { ValidatingAdmissionPolicy } from '../../../kinds/builtin/admission.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'
import { LazyVariables } from './compile-policy.ts'
import type { CompiledPolicy, CompiledScope } from './compile-policy.ts'
import type { MatchInput } from './match.ts'

/** Why a policy's evaluation stopped. */
export const OVER_BUDGET =
  'validation failed due to running out of cost budget, no further validation rules will be run'

/** The expressions of a policy while they are evaluated for one request. */
export interface Evaluation {
  run(program: CelProgram): CelResult
  isOverBudget(): boolean
  /** Whether the policy's match conditions hold. */
  match(): { readonly matches: boolean; readonly error?: string }
}

/** The parameter and the authorizer of an evaluation. */
export interface EvaluationInput {
  readonly param: UnknownObject | undefined
  readonly ask: AccessChecker
  /** Called with a match condition that is false. */
  readonly mismatched?: (program: CelProgram) => void
  /** Called with the cost of each expression. */
  readonly spend?: (cost: number) => void
}

/** Begins to evaluate; variables are evaluated when an expression first reads them. */
export function beginEvaluation(
  compiled: CompiledScope,
  matched: MatchInput,
  { param, ask, mismatched, spend }: EvaluationInput,
): Evaluation {
  const bindings = bindingsOf(matched, param, ask)
  let left = PER_OBJECT_LIMIT
  const run = (program: CelProgram): CelResult => {
    const result = program.evaluate(bindings)
    left -= result.cost
    spend?.(result.cost)
    return result
  }
  const variables = new Map<string, () => never>()
  for (const { name, program } of compiled.variables) {
    variables.set(name, () => {
      const result = run(program)
      if (!result.ok) throw new CelFailure(`composited variable "${name}" fails to evaluate: ${result.error}`)
      return result.value as never
    })
  }
  bindings['variables'] = new LazyVariables(variables)
  return {
    run,
    isOverBudget: () => left < 0,
    match() {
      for (const { program } of compiled.matchConditions) {
        const result = run(program)
        if (!result.ok) return { matches: false, error: errorText(program, result.error) }
        if (result.value !== true) {
          if (result.value === false) mismatched?.(program)
          return { matches: false }
        }
      }
      return { matches: true }
    },
  }
}

/** What an expression that failed is refused with. */
export function errorText(program: CelProgram, error: string): string {
  return `expression '${program.source}' resulted in error: ${error}`
}

function bindingsOf(
  { request, namespace }: MatchInput,
  param: UnknownObject | undefined,
  ask: AccessChecker,
): Record<string, unknown> {
  const { kind, caller, operation, subresource = '', object, oldObject, dryRun } = request
  const { name = '', namespace: inside = '' } = (object ?? oldObject)?.metadata ?? {}
  const gvk = { group: kind.group, version: kind.version, kind: kind.kind }
  const gvr = { group: kind.group, version: kind.version, resource: kind.plural }
  const about = { user: undefined, group: kind.group, resource: kind.plural, namespace: inside, name, subresource }
  return {
    object: object ?? null,
    oldObject: oldObject ?? null,
    params: param ?? null,
    namespaceObject: namespace ?? null,
    authorizer: new CelAuthorizer(ask),
    'authorizer.requestResource': new ResourceCheck(ask, about),
    request: {
      kind: gvk,
      resource: gvr,
      requestKind: gvk,
      requestResource: gvr,
      ...(subresource === '' ? {} : { subResource: subresource, requestSubResource: subresource }),
      name,
      ...compact({ namespace: inside === '' ? undefined : inside }),
      operation,
      dryRun,
      userInfo: { username: caller.user, uid: caller.uid ?? '', groups: caller.groups, extra: caller.extra ?? {} },
    },
  }
}

/** A validation that is not met, or cannot be evaluated. */
interface Failure {
  readonly message: string
  readonly reason: string | undefined
  readonly isError: boolean
}

/** The outcome of a policy for a request. */
export interface PolicyOutcome {
  readonly failures: readonly Failure[]
  readonly annotations: Readonly<Record<string, string>>
}

/** A validating policy with its programs. */
export interface CompiledValidatingPolicy {
  readonly policy: ValidatingAdmissionPolicy
  readonly compiled: CompiledPolicy | undefined
  readonly problem: string | undefined
}

/** Evaluates a validating policy. Returns undefined if its match conditions do not hold. */
export function evaluatePolicy(
  { policy, compiled, problem }: CompiledValidatingPolicy,
  matched: MatchInput,
  input: EvaluationInput,
): PolicyOutcome | undefined {
  const failures: Failure[] = []
  const annotations: Record<string, string> = {}
  const broken = (message: string): PolicyOutcome => ({
    failures: [{ message, reason: undefined, isError: true }],
    annotations,
  })
  if (!compiled) return broken(problem ?? 'cannot be compiled')
  const { run, isOverBudget, match } = beginEvaluation(compiled, matched, input)
  const { matches, error } = match()
  if (error !== undefined) return broken(error)
  if (!matches) return undefined
  for (const [index, { program, message }] of compiled.validations.entries()) {
    const spec = policy.spec?.validations?.[index]
    const result = run(program)
    if (isOverBudget()) return broken(OVER_BUDGET)
    if (!result.ok) failures.push({ message: errorText(program, result.error), reason: spec?.reason, isError: true })
    else if (result.value !== true) {
      const said = message && run(message)
      const own = said?.ok && typeof said.value === 'string' ? said.value.trim() : ''
      const text =
        own !== '' && !own.includes('\n') ? own : spec?.message?.trim() || `failed expression: ${program.source.trim()}`
      failures.push({ message: text, reason: spec?.reason, isError: false })
    }
  }
  for (const { key, program } of compiled.auditAnnotations) {
    const result = run(program)
    if (!result.ok) failures.push({ message: errorText(program, result.error), reason: undefined, isError: true })
    else if (typeof result.value === 'string') annotations[key] = result.value
  }
  return { failures, annotations }
}
